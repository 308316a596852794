import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { daemonApp } from '../../src/lib/daemon/app';
import { policyFor } from '../../src/lib/daemon/guards';
import { webRoute, type WebRouteDeps } from '../../src/lib/daemon/web-route';
import { httpServer, type HttpServer } from '../../src/lib/platform/net/http-server';
import { storeVisit } from '../../src/lib/sense/web';
import type { SenseBox } from './sense';

/** The daemon's route of the extension on a real port, without the rest of the daemon. */
export interface WebDaemon {
  /** What was asked: heads and bodies. */
  requests: string[];
  listen: (port?: number) => Promise<number>;
  close: () => Promise<void>;
  isUp: () => boolean;
}

export function webDaemon(
  { area, deps }: SenseBox,
  now: () => number,
  off: () => Awaited<ReturnType<WebRouteDeps['whyOff']>> = () => undefined,
): WebDaemon {
  const requests: string[] = [];
  let server: HttpServer | undefined;
  const config = { ...deps.config, exclude: [] };
  let storing: Promise<unknown> = Promise.resolve();
  const app = daemonApp({
    routes: [
      webRoute({
        ...{ area, clock: { now } },
        whyOff: () => Promise.resolve(off()),
        async store(visit) {
          storing = storing.then(() => storeVisit({ ...deps, config }, visit, ''));
          await storing;
        },
      }),
    ],
    policy: policyFor('127.0.0.1'),
    gate: { isRequired: true, hasKey: () => false, hasPageSecret: () => false },
    otherUsers: true,
    onFault: (_, error) => requests.push(error.message),
  });
  return {
    requests,
    async listen(port = 0) {
      server = httpServer({
        ...app,
        admit(head) {
          requests.push(`${head.target} ${JSON.stringify(head.headers)}`);
          return app.admit(head);
        },
        answer(head, body) {
          requests.push(body.toString());
          return app.answer(head, body);
        },
      });
      return server.listenTcp('127.0.0.1', port);
    },
    async close() {
      await server?.close(0);
      server = undefined;
    },
    isUp: () => server !== undefined,
  };
}

/** Returns the visits that were stored, in minutes after `startMs`. */
export function visitsIn(box: SenseBox, startMs: number): [site: string | null, from: number, to: number][] {
  const minutesAt = (iso: string): number => (Date.parse(iso) - startMs) / 60_000;
  return box.store
    .loggedDays()
    .flatMap((day) => box.store.readLog(day).events)
    .filter(({ type }) => type === 'web-focus')
    .map(({ app, ts, detail }) => [
      app?.slice('site:'.length) ?? null,
      minutesAt(String(detail?.['from'])),
      minutesAt(ts),
    ]);
}

/** Sets the clock of the extension's worker, which the message starts if it was ended, and who uses the computer. */
const MESSAGES = `
api.runtime.onMessage.addListener(async ({ now, state }) => {
  if (now !== undefined) Date.now = () => now;
  if (state !== undefined) api.idle.queryState = () => Promise.resolve(state);
});
`;

/**
 * Copies the extension, with `*.granted.test` ticked, because a test cannot answer the browser's question. Its pages
 * may send messages to its worker.
 */
export function tickedExtension(folder: string): void {
  cpSync('extension', folder, { recursive: true });
  appendFileSync(join(folder, 'worker.js'), MESSAGES);
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { host_permissions: string[] };
  manifest.host_permissions.push('http://*.granted.test/*');
  writeFileSync(path, JSON.stringify(manifest));
}

/** Calls the extension's functions from the page with the options. */
const STRINGS = `
const { storage, runtime } = browser;
const { dataset } = document.body;
async function answer() {
  const { looks, ...message } = JSON.parse(dataset.ask);
  if (Object.keys(message).length > 0) await runtime.sendMessage(message);
  if (looks !== undefined) await storage.local.set({ looks });
  dataset.told = JSON.stringify([await storage.session.get(), await storage.local.get()]);
}
document.addEventListener('ask', answer);
// A test may have asked before this was loaded.
if (dataset.ask !== undefined) answer();
`;

/** Lets a test pull the strings of a copy of the extension, for browsers that give no access to its pages. */
export function addStrings(folder: string): void {
  writeFileSync(join(folder, 'strings.js'), STRINGS);
  const page = join(folder, 'options.html');
  const script = '<script type="module" src="strings.js"></script>';
  writeFileSync(page, readFileSync(page, 'utf8').replace('</head>', `${script}</head>`));
}

/** Writes another extension, which may send to this computer too. */
export function otherExtension(folder: string): string {
  mkdirSync(folder);
  const manifest = {
    ...{ manifest_version: 3, name: 'other', version: '1' },
    ...{ host_permissions: ['http://127.0.0.1/*'], background: { service_worker: 'other.js' } },
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'other.js'), '');
  return folder;
}

/** A server of pages, whatever the host. */
export async function serveSites(): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<title>${request.headers.host ?? ''}</title>`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as AddressInfo).port };
}
