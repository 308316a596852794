/** Does the host name of a URL (`127.0.0.1`, `[::1]`) stand for this machine alone? Loads nothing. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
