import { ipVersion, isLoopback } from '../platform/net/address';
import type { RequestHead } from '../platform/net/http-application';

/** What the guards compare a request with. */
export interface GuardPolicy {
  /** Names and addresses under which the daemon is asked, lower case, IPv6 without brackets. */
  hosts: ReadonlySet<string>;
  /** It listens on every address of the machine: then any address, but no other name, is its own. */
  anyAddress: boolean;
}

export interface Refusal {
  status: 403 | 415;
  message: string;
  hint: string;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
const WILDCARDS = new Set(['0.0.0.0', '::']);

export function policyFor(host: string): GuardPolicy {
  return { hosts: new Set([...LOOPBACK_NAMES, host.toLowerCase()]), anyAddress: WILDCARDS.has(host) };
}

/**
 * May this request be answered at all (decisions.md 8 and 9)? A page of another origin in the person's browser
 * reaches loopback: it is told by Sec-Fetch-Site and Origin, and one whose name was bound anew to our address by
 * Host. What comes over the local socket is this user's own, and only its Host is looked at.
 */
export function guard(head: RequestHead, policy: GuardPolicy): Refusal | undefined {
  const host = headerOf(head, 'host');
  if (host === undefined || countOf(head, 'host') !== 1 || !isOwnHost(host, policy)) {
    return {
      status: 403,
      message: 'The request names a host that is not this daemon.',
      hint: 'Ask it by the address that "steward daemon status" shows.',
    };
  }
  const site = headerOf(head, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return FOREIGN;
  const origin = headerOf(head, 'origin');
  if (origin === undefined) return undefined;
  if (countOf(head, 'origin') !== 1 || origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return FOREIGN;
  if (head.method === 'POST' && !isJson(headerOf(head, 'content-type'))) {
    return {
      status: 415,
      message: 'A page sends JSON only.',
      hint: 'Send it with content-type: application/json.',
    };
  }
  return undefined;
}

const FOREIGN: Refusal = {
  status: 403,
  message: 'The request comes from a page of another origin.',
  hint: 'Only the pages of this daemon may ask it from a browser; open the address yourself.',
};

/** The host of a Host header without its port, lower case, IPv6 without brackets; undefined when it is none. */
export function hostNameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]@/\\?#\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isOwnHost(host: string, { hosts, anyAddress }: GuardPolicy): boolean {
  // What nearly every request says.
  if (host.startsWith(USUAL_HOST)) return isPort(host, USUAL_HOST.length);
  const name = hostNameOf(host);
  if (name === undefined) return false;
  return hosts.has(name) || isLoopback(name) || (anyAddress && ipVersion(name) !== 0);
}

const USUAL_HOST = '127.0.0.1:';

function isPort(text: string, from: number): boolean {
  for (let at = from; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return false;
  }
  return text.length > from && text.length <= from + 5;
}

/** `application/json`, with or without parameters. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);
}

function headerOf({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** How often a header was sent: of several, programs in between might believe another one. */
function countOf({ rawHeaders }: RequestHead, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] ?? '';
    if (raw.length === name.length && raw.toLowerCase() === name) count += 1;
  }
  return count;
}
