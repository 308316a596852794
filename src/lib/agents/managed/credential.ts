import { StewardError } from '../../errors';
import { isLoopbackHost } from '../../platform/net/address';
import type { Credential } from './client';

/** A key or a token, each with the name of where it comes from. */
export interface Credentials {
  apiKey: string | undefined;
  authToken: string | undefined;
  names: readonly [apiKey: string, authToken: string];
}

/** Variables of the vendor's own clients; they belong to the vendor's host. */
export const VENDOR_NAMES = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const;
const VENDOR_HOST = 'api.anthropic.com';

/** The one credential: the configured one, else the vendor's variable, for the vendor's host or this machine only. */
export function credentialFor(
  url: string,
  configured: Credentials,
  vendor: Credentials,
): { credential: Credential; from: string | undefined } {
  const { hostname } = new URL(url);
  const isLocal = isLoopbackHost(hostname);
  const found = pick(configured) ?? (isLocal || hostname === VENDOR_HOST ? pick(vendor) : undefined);
  if (found !== undefined) return found;
  // A server on this machine may want none.
  if (isLocal) return { credential: undefined, from: undefined };
  throw new StewardError('auth', `There is no credential for ${hostname}.`, {
    hint: 'Set one by reference, such as: steward config set agents.managed.apiKey env:ANTHROPIC_API_KEY',
  });
}

function pick({
  apiKey,
  authToken,
  names,
}: Credentials): { credential: Credential; from: string } | undefined {
  const [key, token] = [apiKey?.trim() ?? '', authToken?.trim() ?? ''];
  if (key !== '' && token !== '') {
    const both = `Two credentials are set: ${names[0]} and ${names[1]}. The service refuses both at once.`;
    throw new StewardError('auth', both, { hint: 'Unset the one that you do not mean.' });
  }
  const from = key === '' ? names[1] : names[0];
  if (key + token === '') return undefined;
  if (!/^[\x21-\x7e]+$/.test(key + token)) {
    throw new StewardError('config', `The credential from ${from} has characters that no header can carry.`, {
      hint: 'Copy it again, without spaces and line breaks inside.',
    });
  }
  return { credential: key === '' ? { authToken: token } : { apiKey: key }, from };
}
