import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** How the server answers one request. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A text-to-speech server of ElevenLabs's shape on the loopback, with whatever faults a test wants. */
export interface SpeechServer {
  url: string;
  asked: Asked[];
  answer: (with_: Answer) => void;
  close: () => Promise<void>;
}

export async function speechServer(): Promise<SpeechServer> {
  const asked: Asked[] = [];
  let answer: Answer = pcm();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      asked.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (with_) => (answer = with_),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A short sound, as raw samples. */
export function pcm(bytes: Buffer = Buffer.from([255, 255, 251, 144, 1, 0, 2])): Answer {
  return (response) => response.writeHead(200, { 'content-type': 'audio/pcm' }).end(bytes);
}

export function status(code: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) =>
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
