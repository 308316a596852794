import type { IncomingMessage } from 'node:http';

import { StewardError } from '../../errors';

/**
 * How many bytes of a rejected body to read before disconnecting. A client that is disconnected during its
 * upload may miss the response.
 */
const MAX_DROPPED_BYTES = 1024 * 1024;

export function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  );
}

/** Returns the complete body, or undefined if its size or content-length exceeds the limit. */
export function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(disconnected());
    });
  });
}

/** Discards the rest of a body; returns false if its size or content-length exceeds the limit. */
export function drained(request: IncomingMessage): Promise<boolean> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_DROPPED_BYTES) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    let dropped = 0;
    request.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > MAX_DROPPED_BYTES) resolve(false);
    });
    request.on('end', () => resolve(true));
    request.on('error', reject);
    request.on('close', () => reject(disconnected()));
  });
}

function disconnected(): StewardError {
  return new StewardError('canceled', 'The client disconnected during its request.');
}
