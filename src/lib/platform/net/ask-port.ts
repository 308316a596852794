import { request } from 'node:http';

import { StewardError, errnoCode } from '../../errors';

export interface PortRequest {
  /** An address of this machine. */
  host: string;
  port: number;
  path: string;
  /** Sent as they are, `Host` too. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
}

export interface PortAnswer {
  status: number;
  /** Of a longer body only the beginning. */
  text: string;
}

const MAX_BYTES = 64 * 1024;

/**
 * One GET to a port of this machine, with headers that an ordinary client would not let one choose. Nobody there:
 * undefined. A server that does not answer in time, or not in HTTP, is `unavailable`.
 */
export function askPort({ timeoutMs, ...options }: PortRequest): Promise<PortAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (what: string, cause?: unknown): void =>
      reject(new StewardError('unavailable', `Port ${options.port} ${what}.`, { cause }));
    const timer = setTimeout(() => sent.destroy(new Error('timeout')), timeoutMs);
    const sent = request({ ...options, setHost: false, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_BYTES) chunks.push(chunk);
      });
      answer.on('error', (error) => fail('broke off its answer', error));
      answer.on('end', () => {
        clearTimeout(timer);
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      if (errnoCode(error) === 'ECONNREFUSED') resolve(undefined);
      else
        fail(
          error.message === 'timeout' ? `did not answer in ${timeoutMs} ms` : 'does not speak HTTP',
          error,
        );
    });
    sent.end();
  });
}
