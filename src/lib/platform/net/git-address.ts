import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';

import { clean } from '../terminal/terminal';

const MAX_LENGTH = 400;
/** The form `ann@nas:days.git`. A host of one letter would be a drive. */
const SCP = /^(?:\w[\w.-]*@)?(\w[\w.-]+):(?!\/\/)(\S+)$/;
/** Hosts that serve a public repository to everybody by https too. */
const OPEN_HOSTS = new Set(['github.com', 'gitlab.com', 'codeberg.org', 'bitbucket.org']);

export interface GitAddress {
  /** As git takes it; a local path becomes a `file:` URL. */
  url: string;
  /** The only protocol that git may use. */
  protocol: 'https' | 'ssh' | 'file';
  /** Where everybody can read the repository if it is public. */
  openUrl?: string;
}

/** Returns undefined unless the text is an https, ssh or file address without a password. */
export function gitAddress(text: string): GitAddress | undefined {
  if (text.length > MAX_LENGTH || text !== clean(text)) return undefined;
  if (isAbsolute(text)) return { url: pathToFileURL(text).href, protocol: 'file' };
  const [, scpHost, scpPath] = SCP.exec(text) ?? [];
  if (scpHost !== undefined) return addressAt(text, 'ssh', scpHost, scpPath ?? '');
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, hostname, pathname, password } = new URL(text);
  if (pathname.length < 2 || password !== '') return undefined;
  if (protocol === 'file:' && host === '') return { url: text, protocol: 'file' };
  if (protocol === 'https:') return addressAt(text, 'https', host, pathname);
  return protocol === 'ssh:' && host !== '' ? addressAt(text, 'ssh', hostname, pathname) : undefined;
}

function addressAt(url: string, protocol: 'https' | 'ssh', host: string, path: string): GitAddress {
  if (protocol === 'ssh' && !OPEN_HOSTS.has(host)) return { url, protocol };
  const name = path.replace(/^\/|\/$/g, '').replace(/\.git$/, '');
  return { url, protocol, openUrl: `https://${host}/${name}.git` };
}
