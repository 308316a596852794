import type { IncomingMessage, ServerResponse } from 'node:http';

import { newId } from './session';

export function credentials(request: IncomingMessage, wanted: string | undefined): string | undefined {
  const key = request.headers['x-api-key'];
  const bearer = request.headers.authorization?.replace(/^Bearer /, '');
  if (key !== undefined && bearer !== undefined) return 'two credentials';
  const given = key ?? bearer;
  if (wanted !== undefined && given !== wanted) return 'invalid x-api-key';
  return undefined;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function send(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'request-id': newId('req'), ...headers })
    .end(JSON.stringify(value));
}

export function fail(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  send(response, status, { type: 'error', error: { type, message }, request_id: newId('req') }, headers);
}
