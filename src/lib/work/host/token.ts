import { crypto } from '../../platform/crypto';
import { StewardError, undefinedIf } from '../../errors';
import { DEMO_VARIABLE } from '../../platform/files/durable';
import { isLoopbackHost } from '../../platform/net/address';
import type { Remote } from '../../platform/process/git';
import type { Run } from '../../platform/process/process';

interface Credential {
  token: string;
  /** The token's source for messages, such as `GH_TOKEN` or `gh auth token`. */
  from: string;
}

export interface CredentialDeps {
  env: NodeJS.ProcessEnv;
  run: Run;
}

const GH_TIMEOUT_MS = 10_000;
const DEFAULT_API = 'https://api.github.com';

/** Returns the URL of the REST API from `GITHUB_API_URL`. Requires https, except for a loopback address. */
export function apiUrl(env: NodeJS.ProcessEnv): URL {
  const text = (env['GITHUB_API_URL'] ?? '').trim();
  const url = text === '' || URL.canParse(text) ? new URL(text === '' ? DEFAULT_API : text) : undefined;
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url !== undefined && isSecure && `${url.username}${url.password}${url.search}` === '') return url;
  throw new StewardError('config', 'Invalid GITHUB_API_URL: it must be an https:// URL without a password.', {
    hint: 'Correct the variable, or unset it to use github.com. http:// is allowed only for localhost.',
  });
}

/** Returns the origin of the web pages and git repositories that belong to an API URL. */
export function siteOf(api: URL): string {
  const isHost = api.pathname === '/' && api.hostname.startsWith('api.');
  return isHost ? api.origin.replace('//api.', '//') : api.origin;
}

const TOKEN_VARIABLES = ['GH_TOKEN', 'GITHUB_TOKEN'];
const NO_CREDENTIAL = 'No credential found for';

/** Returns whether another process failed because it has no token, although this process has one. */
export function isCredentialHereOnly(failure: string | null, env: NodeJS.ProcessEnv): boolean {
  return (
    failure?.startsWith(NO_CREDENTIAL) === true && TOKEN_VARIABLES.some((name) => (env[name] ?? '') !== '')
  );
}

/**
 * Returns the credential from GH_TOKEN, GITHUB_TOKEN or `gh`, in this order. Throws `auth` if there is none.
 */
export async function findCredential(deps: CredentialDeps, api: URL): Promise<Credential> {
  if (deps.env[DEMO_VARIABLE] !== undefined)
    throw new StewardError('auth', 'The demo has no credential: its issues are read-only.', {
      hint: 'Outside the demo, steward changes issues in your work repository.',
    });
  for (const name of TOKEN_VARIABLES) {
    const token = (deps.env[name] ?? '').trim();
    if (token !== '') return checked({ token, from: name });
  }
  const host = new URL(siteOf(api)).hostname;
  const token = await ghToken(deps, host);
  if (token !== undefined && token !== '') return checked({ token, from: '`gh auth token`' });
  const install = token === undefined ? 'Install the GitHub CLI (`gh`) and run' : 'Run';
  throw new StewardError('auth', `${NO_CREDENTIAL} ${host}.`, {
    hint: `${install} \`gh auth login\`, or set GH_TOKEN.`,
  });
}

/**
 * Returns the token from `gh`, an empty string if `gh` has no token, or undefined if `gh` isn't installed.
 */
async function ghToken({ env, run }: CredentialDeps, host: string): Promise<string | undefined> {
  const args = ['auth', 'token', '--hostname', host];
  const answer = run('gh', args, { env, timeoutMs: GH_TIMEOUT_MS });
  const result = await answer.catch(undefinedIf('not_found'));
  return result?.code === 0 ? result.stdout.trim() : result && '';
}

/** Returns a repository's clone URL and the credential for it. */
export async function gitRemote(deps: CredentialDeps, repo: string): Promise<Remote> {
  const api = apiUrl(deps.env);
  const { token } = await findCredential(deps, api);
  const basic = Buffer.from(`x-access-token:${token}`, 'utf8').toString('base64');
  const url = `${siteOf(api)}/${repo}.git`;
  return {
    url,
    protocol: new URL(url).protocol.replace(/:$/, ''),
    credential: { authorization: `Basic ${basic}` },
  };
}

/** Throws `auth` if the token can't be sent in a header. */
function checked(credential: Credential): Credential {
  if (/^[\x21-\x7e]{4,1024}$/.test(credential.token)) return credential;
  throw new StewardError('auth', `The token from ${credential.from} is malformed.`, {
    hint: 'Tokens cannot contain spaces. Run `gh auth login`, or set GH_TOKEN to a valid token.',
  });
}

/** Returns a hash that distinguishes tokens without revealing them. */
export function tokenHash(token: string): string {
  return crypto().createHash('sha256').update(`steward token ${token}`).digest('hex').slice(0, 16);
}
