import { domainToASCII } from 'node:url';

import { StewardError } from '../../errors';

/** Returns whether a text is a site's name: a host name with a dot, but no IP address. */
export function isSite(text: string): boolean {
  return /^(?=.{4,100}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(text);
}

/** The name of all sites that were not ticked. */
export const OTHER_SITES = 'other sites';

/** Returns a site's name as browsers write it, such as `xn--mller-kva.de` for `müller.de`. */
export function asciiSite(name: string): string {
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name) ? domainToASCII(name) || name : name;
}

/** Returns an entry such as `site:müller.de` as it is compared. Other names stay. */
export function asciiEntry(entry: string): string {
  return entry.replace(/^(site:)(.+)$/i, (_, key: string, name: string) => key + asciiSite(name));
}

/** Returns a site's name in lower case and in ASCII. Throws `usage` if it is invalid. */
export function checkedSite(text: string): string {
  const name = asciiSite(text.toLowerCase());
  if (isSite(name)) return name;
  const host = URL.canParse(name) ? new URL(name).hostname : '';
  throw new StewardError('usage', `Invalid site "${text}".`, {
    hint: `Use ${isSite(host) ? `${host}, without the rest of the address` : 'a name such as docs.rs'}.`,
  });
}
