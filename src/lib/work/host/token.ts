import { createHash } from 'node:crypto';

import { StewardError } from '../../errors';
import { isLoopbackHost } from '../../platform/net/address';
import type { Remote } from '../../platform/process/git';
import type { Run } from '../../platform/process/process';

export interface Credential {
  token: string;
  /** Where it comes from, for messages: `GH_TOKEN`, `gh auth token`. */
  from: string;
}

export interface CredentialDeps {
  env: NodeJS.ProcessEnv;
  run: Run;
}

const GH_TIMEOUT_MS = 10_000;
const DEFAULT_API = 'https://api.github.com';

/** The service's REST address: `$GITHUB_API_URL`, default api.github.com; https, or http to this machine only. */
export function apiUrl(env: NodeJS.ProcessEnv): URL {
  const text = (env['GITHUB_API_URL'] ?? '').trim();
  const wrong = new StewardError(
    'config',
    'GITHUB_API_URL is no https:// address (http:// only to this machine) without a password in it.',
    { hint: 'Correct it, or unset it for github.com.' },
  );
  if (text !== '' && !URL.canParse(text)) throw wrong;
  const url = new URL(text === '' ? DEFAULT_API : text);
  if (url.username !== '' || url.password !== '' || url.search !== '') throw wrong;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname))) throw wrong;
  return url;
}

/** The site that belongs to an API address, `api.` in front of it or not: where pages and git repositories are. */
export function siteOf(api: URL): string {
  const isHost = api.pathname === '/' && api.hostname.startsWith('api.');
  return isHost ? api.origin.replace('//api.', '//') : api.origin;
}

/**
 * The credential, in this order: GH_TOKEN, GITHUB_TOKEN, what `gh` keeps for that very host. None is `auth`.
 * `gh` is asked by its argument array, and makes no request for it.
 */
export async function findCredential(deps: CredentialDeps, api: URL): Promise<Credential> {
  for (const name of ['GH_TOKEN', 'GITHUB_TOKEN']) {
    const token = (deps.env[name] ?? '').trim();
    if (token !== '') return checked({ token, from: name });
  }
  const host = new URL(siteOf(api)).hostname;
  const answer = await ghToken(deps, host);
  if (answer === undefined || answer === '') {
    throw new StewardError('auth', `There is no credential for ${host}.`, {
      hint:
        answer === undefined
          ? 'Install GitHub\u2019s `gh` and run `gh auth login`, or set GH_TOKEN.'
          : 'Run `gh auth login`, or set GH_TOKEN.',
    });
  }
  return checked({ token: answer, from: '`gh auth token`' });
}

/** Undefined where gh is not installed, an empty text where it knows of none. */
async function ghToken({ env, run }: CredentialDeps, host: string): Promise<string | undefined> {
  try {
    const result = await run('gh', ['auth', 'token', '--hostname', host], {
      env,
      timeoutMs: GH_TIMEOUT_MS,
    });
    return result.code === 0 ? result.stdout.trim() : '';
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/** Where the repository is cloned from, and with which credential. */
export async function gitRemote(deps: CredentialDeps, repo: string): Promise<Remote> {
  const api = apiUrl(deps.env);
  const { token } = await findCredential(deps, api);
  const basic = Buffer.from(`x-access-token:${token}`, 'utf8').toString('base64');
  return { url: `${siteOf(api)}/${repo}.git`, authorization: `Basic ${basic}` };
}

/** A token goes into a header: one word of visible ASCII. */
function checked(credential: Credential): Credential {
  if (/^[\x21-\x7e]{4,1024}$/.test(credential.token)) return credential;
  throw new StewardError('auth', `${credential.from} is malformed.`, {
    hint: 'A token is one word; run `gh auth login`, or set GH_TOKEN to it.',
  });
}

/** Tells tokens apart on disk without telling them. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(`steward token ${token}`).digest('hex').slice(0, 16);
}
