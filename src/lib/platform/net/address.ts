import { isIP } from 'node:net';

/** 4 or 6 for an IP address (without brackets), 0 for anything else. */
export function ipVersion(text: string): 0 | 4 | 6 {
  return isIP(text) as 0 | 4 | 6;
}

/** Does the name or address (IPv6 without brackets) stand for this machine alone? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** `http://127.0.0.1:31337`; an address that stands for all of the machine's is shown as loopback. */
export function httpUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIP(shown) === 6 ? `[${shown}]` : shown}:${port}`;
}
