import { createHash } from 'node:crypto';

import { marksOf } from '../platform/files/stat';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import type { Clock } from '../platform/time/clock';
import { JSON_HEADERS, refusal, type RawRoute } from './route';
import { namelessEtag } from './withheld';

/** A document that pages subscribe to. */
export interface Topic {
  name: string;
  path: string;
  /** The files that the document depends on. Pages see changes within a second. */
  files: () => readonly string[];
  /**
   * How often to check the document even if no file changed. Needed because the document also depends on the
   * time and on running processes.
   */
  everySec: number;
  /**
   * Returns the part of the document that pages show. Needed if the other parts are different in every
   * response.
   */
  shown?: (document: never) => unknown;
}

export interface ChangesDeps {
  clock: Pick<Clock, 'monotonic'>;
  topics: readonly Topic[];
  /** Sends a GET request to the daemon itself. */
  ask: (path: string) => Promise<HttpAnswer>;
  onFault: (error: unknown) => void;
}

type Write = (line: { topic?: string; etag?: string }) => void;

interface Known {
  marks: string;
  etag: string;
  /** When the ETag was computed, on the monotonic clock. */
  atMs: number;
}

const EVERY_MS = 1000;
const BEAT_EVERY = 15;
/** The maximum number of open streams. All tabs of a browser share one stream. */
const MAX_LISTENERS = 32;

/** Notifies listeners when documents change. Checks only while there are listeners. */
export function changeFeed({ clock, topics, ask, onFault }: ChangesDeps) {
  const listeners = new Set<Write>();
  const known = new Map<string, Known>();
  let timer: NodeJS.Timeout | undefined;
  let checks = 0;
  let checking: Promise<void> | undefined;

  const currentOf = (topic: Topic, marks: string): Known | undefined =>
    unchanged(known.get(topic.name), { marks, atMs: clock.monotonic() - topic.everySec * 1000 });
  const checkAll = async (): Promise<void> => {
    for (const topic of topics) {
      if (listeners.size === 0) return;
      const { text: marks } = marksOf(topic.files());
      if (currentOf(topic, marks) !== undefined) continue;
      const etag = etagOf(topic, await ask(topic.path));
      const before = known.get(topic.name);
      known.set(topic.name, { marks, etag, atMs: clock.monotonic() });
      if (etag !== before?.etag) publish(topic.name, etag);
    }
  };
  const check = (): Promise<void> => (checking ??= checkAll().finally(() => (checking = undefined)));
  const publish = (topic: string, etag: string): void => {
    for (const write of listeners) write({ topic, etag });
  };
  const tick = (): void => {
    checks += 1;
    if (checks % BEAT_EVERY === 0) for (const write of listeners) write({});
    check().catch(onFault);
  };
  return {
    check,
    isFull: () => listeners.size >= MAX_LISTENERS,
    /**
     * Sends each document's ETag immediately, and again whenever the ETag changes. Returns a function that
     * removes the listener.
     */
    listen(write: Write): () => void {
      for (const topic of topics) {
        const current = currentOf(topic, marksOf(topic.files()).text);
        if (current !== undefined) write({ topic: topic.name, etag: current.etag });
        // Nothing checks without listeners, so the next check computes and sends this ETag.
        else known.delete(topic.name);
      }
      listeners.add(write);
      timer ??= setInterval(tick, EVERY_MS);
      check().catch(onFault);
      return () => {
        listeners.delete(write);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

/** Returns what is known of a document, unless it may have changed: its files did, or it was computed too long ago. */
function unchanged(known: Known | undefined, { marks, atMs }: Omit<Known, 'etag'>): Known | undefined {
  return known !== undefined && known.marks === marks && known.atMs > atMs ? known : undefined;
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Returns a response's ETag header, or a hash of the content that pages show. */
function etagOf({ shown }: Topic, { status, headers, body }: HttpAnswer): string {
  const at = headers.indexOf('etag');
  if (at !== -1) return headers[at + 1] ?? '';
  const document: unknown = JSON.parse(body.toString());
  const value = status === 200 && shown !== undefined ? shown(document as never) : document;
  return `"${createHash('sha1').update(JSON.stringify(value)).digest('base64url')}"`;
}

export interface StreamDeps extends ChangesDeps {
  /** Identifies this run of the daemon. Page secrets are valid for one run only. */
  run: string;
  version: string;
  hasPageSecret: (head: RequestHead) => boolean;
}

/**
 * Handles `GET /api/stream`. Each line is a JSON object that names a changed document. Pages then fetch the
 * document.
 */
export function streamRoute({ run, version, hasPageSecret, ...deps }: StreamDeps): RawRoute {
  const feed = changeFeed(deps);
  return {
    method: 'GET',
    path: '/api/stream',
    serve({ head }) {
      if (feed.isFull()) return TOO_MANY;
      return {
        status: 200,
        headers: STREAM_HEADERS,
        body: '',
        stream(write) {
          const signedIn = hasPageSecret(head);
          write(lineOf({ run, version, signedIn }));
          const seesNames = signedIn || head.isLocal;
          return feed.listen(({ etag, ...line }) => {
            if (etag === undefined) write(lineOf(line));
            else write(lineOf({ ...line, etag: seesNames ? etag : namelessEtag(etag) }));
          });
        },
      };
    },
  };
}

const TOO_MANY = refusal(
  503,
  'unavailable',
  `Too many open streams; the limit is ${MAX_LISTENERS}.`,
  'Close some pages.',
);

const STREAM_HEADERS = [
  'content-type',
  'application/x-ndjson; charset=utf-8',
  ...JSON_HEADERS.slice(2),
  'cache-control',
  'no-store',
];
