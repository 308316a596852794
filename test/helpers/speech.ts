import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import type { ChannelDeps } from '../../src/lib/notify/channels/channel';
import type { SpeechMachine, SpeechOrder } from '../../src/lib/notify/speech/engines/engine';
import type { Speech } from '../../src/lib/notify/speech/queue';
import { run } from '../../src/lib/platform/process/process';
import type { TakeTurn } from '../../src/lib/platform/process/turn';

/** A machine on which these programs are, by the path of each; they are really run. */
export function machineWith(
  programs: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = 'linux',
): SpeechMachine {
  return { platform, find: (name) => programs[name], run, takeTurn: alone };
}

/** There is no other process. */
export const alone: TakeTurn = (_waiter, work) => work();

/** A small shell script that stands for a program. */
export function script(path: string, lines: string): string {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** An order for a text, with plenty of time. */
export function orderOf(text: string, more: Partial<SpeechOrder> = {}): SpeechOrder {
  return { text, remainingMs: () => 20_000, signal: new AbortController().signal, ...more };
}

/** A voice that is switched on and speaks as it is told. */
export function voiceThat(say: Speech['say']): ChannelDeps['voice'] {
  return { speech: { say }, isOff: () => false, status: () => ({ engines: ['test'] }) };
}

/** The voice of a machine that has none: it says so of every text. */
export function noVoice(): ChannelDeps['voice'] {
  return voiceThat(() => Promise.resolve({ spoken: false, reason: 'no speech engine is set up' }));
}

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

export interface Corpus {
  /** Sentences in which "live" is the verb, and stays. */
  verb: string[];
  /** Sentences in which it is what is said of a broadcast, of what is in operation, of a living thing. */
  broadcast: string[];
}

/** A file of sentences under the headings "# verb" and "# broadcast"; other lines with # are remarks. */
export function readCorpus(name: string): Corpus {
  const path = join(__dirname, '..', 'lib', 'notify', 'speech', 'corpus', name);
  const corpus: Corpus = { verb: [], broadcast: [] };
  let kind: keyof Corpus = 'verb';
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '# verb' || line === '# broadcast') kind = line.slice(2) as keyof Corpus;
    else if (line !== '' && !line.startsWith('#')) corpus[kind].push(line);
  }
  return corpus;
}
