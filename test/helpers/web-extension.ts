import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { daemonApp } from '../../src/lib/daemon/app';
import { policyFor } from '../../src/lib/daemon/guards';
import { webRoute } from '../../src/lib/daemon/web-route';
import { httpServer, type HttpServer } from '../../src/lib/platform/net/http-server';
import { addVisit, type SiteVisits } from '../../src/lib/sense/web';
import type { SenseBox } from './sense';

/** The daemon's route of the extension on a real port, without the rest of the daemon. */
export interface WebDaemon {
  visits: SiteVisits;
  /** What was asked: heads and bodies. */
  requests: string[];
  listen: (port?: number) => Promise<number>;
  close: () => Promise<void>;
  isUp: () => boolean;
}

export function webDaemon(area: SenseBox['area'], now: () => number): WebDaemon {
  const visits: SiteVisits = new Map();
  const requests: string[] = [];
  let server: HttpServer | undefined;
  const isOn = (): Promise<boolean> => Promise.resolve(true);
  const add = addVisit.bind(undefined, visits);
  const app = daemonApp({
    routes: [webRoute({ area, clock: { now }, isOn, add })],
    policy: policyFor('127.0.0.1'),
    gate: { isRequired: true, hasKey: () => false, hasPageSecret: () => false },
    otherUsers: true,
    onFault: (_, error) => requests.push(error.message),
  });
  return {
    visits,
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

/** Copies the extension, with `*.granted.test` ticked, because a test cannot answer the browser's question. */
export function tickedExtension(folder: string): void {
  cpSync('extension', folder, { recursive: true });
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { host_permissions: string[] };
  manifest.host_permissions.push('http://*.granted.test/*');
  writeFileSync(path, JSON.stringify(manifest));
}

/** Sets the clock of the extension's background page, and calls its functions from the page with the options. */
const STRINGS = `
const { storage, runtime } = browser;
if (document.getElementById('sites') === null) {
  runtime.onMessage.addListener(async ({ now }) => {
    Date.now = () => now;
  });
} else {
  document.addEventListener('ask', async () => {
    const { now, looks } = JSON.parse(document.body.dataset.ask);
    if (now !== undefined) await runtime.sendMessage({ now });
    if (looks !== undefined) await storage.local.set({ looks });
    document.body.dataset.told = JSON.stringify([await storage.session.get(), await storage.local.get()]);
  });
}
`;

/** Lets a test pull the strings of a copy of the extension, for browsers that give no access to its pages. */
export function addStrings(folder: string): void {
  writeFileSync(join(folder, 'strings.js'), STRINGS);
  const manifest = join(folder, 'manifest.json');
  const facts = JSON.parse(readFileSync(manifest, 'utf8')) as { background: { scripts: string[] } };
  facts.background.scripts.unshift('strings.js');
  writeFileSync(manifest, JSON.stringify(facts));
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
