interface Answer {
  status: number;
  /** Names and values in turns. */
  headers: readonly string[];
  body: string | Buffer;
}

/** An answer as bytes, for a connection that has no request to answer to. */
export function wireText({ status, headers, body }: Answer): string {
  const lines = [`HTTP/1.1 ${status} ${REASONS.get(status) ?? 'Refused'}`];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`content-length: ${Buffer.byteLength(body)}`, 'connection: close');
  return `${lines.join('\r\n')}\r\n\r\n${body.toString()}`;
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [408, 'Request Timeout'],
  [431, 'Request Header Fields Too Large'],
]);
