import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';

import type { Route } from '../../src/lib/daemon/route';
import { daemonApp } from '../../src/lib/daemon/app';
import { gate, type Gate, policyFor } from '../../src/lib/daemon/guards';
import { ownRoutes, pageRoutes } from '../../src/lib/daemon/routes';
import type { DaemonStatus } from '../../src/lib/daemon/status';
import { systemClock } from '../../src/lib/platform/time/clock';
import { httpServer, type HttpServer } from '../../src/lib/platform/net/http-server';
import { SERVER_LIMITS } from '../../src/lib/platform/net/http-application';
import { ASSETS, launchBrowser, PAGES } from '../helpers/browser';
import { ask, until } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';

const TOKEN = 'a-token-of-more-than-thirty-two-characters';

const STATUS: DaemonStatus = {
  version: '1',
  pid: 1,
  uptimeSec: 1,
  memoryMiB: 1,
  startedAt: '2026-11-20T09:00:00.000Z',
  modules: [],
  outbox: { waiting: 0, failed: 0 },
  spool: { waiting: 0, dead: 0, oldest: null },
  jobs: [],
};

/** What a page of another origin tries; each answers with what it could read, or with the name of its error. */
const ATTACKS = (target: string): string => `<!doctype html><title>attack</title><body><script>
const read = async (options, path) => {
  try {
    const response = await fetch('${target}' + path, options);
    return 'status ' + response.status + ' ' + response.type + ' ' + (await response.text());
  } catch (error) {
    return 'failed ' + error.name;
  }
};
const image = () => new Promise((resolve) => {
  const element = new Image();
  element.onload = () => resolve('loaded');
  element.onerror = () => resolve('failed');
  element.src = '${target}/assets/pixel.svg';
});
const script = () => new Promise((resolve) => {
  const element = document.createElement('script');
  element.onload = () => resolve('loaded ' + String(window.stolen));
  element.onerror = () => resolve('failed');
  element.src = '${target}/assets/own.js';
  document.body.append(element);
});
const frame = () => new Promise((resolve) => {
  const element = document.createElement('iframe');
  element.onload = () => {
    let text = 'opaque';
    try { text = element.contentDocument === null ? 'opaque' : element.contentDocument.body.textContent; } catch (error) { text = error.name; }
    resolve(text);
  };
  element.src = '${target}/';
  document.body.append(element);
});
const form = () => new Promise((resolve) => {
  const target = document.createElement('iframe');
  target.name = 'sink';
  document.body.append(target);
  const element = document.createElement('form');
  element.method = 'POST';
  element.enctype = 'text/plain';
  element.target = 'sink';
  element.action = '${target}/do';
  const input = document.createElement('input');
  input.name = '{"message":"'; input.value = 'x"}';
  element.append(input);
  document.body.append(element);
  target.onload = () => resolve('sent');
  element.submit();
});
window.attack = async () => ({
  get: await read({}, '/api/secret'),
  opaque: await read({ mode: 'no-cors' }, '/api/secret'),
  withCookies: await read({ credentials: 'include' }, '/api/secret'),
  postText: await read({ method: 'POST', body: '{"message":"x"}', headers: { 'content-type': 'text/plain' } }, '/do'),
  postOpaque: await read({ method: 'POST', mode: 'no-cors', body: '{"message":"x"}' }, '/do'),
  postJson: await read({ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }, '/do'),
  image: await image(),
  script: await script(),
  frame: await frame(),
  form: await form(),
  beacon: navigator.sendBeacon('${target}/do', '{"message":"x"}'),
});
</script>`;

describe('a browser and the daemon (real Chromium)', function () {
  this.timeout(180_000);
  let browser: Browser;
  let context: BrowserContext;
  let folder: string;
  let server: HttpServer;
  let evil: Server;
  let port = 0;
  let evilPort = 0;
  let done = 0;
  /** Requests that got as far as a route. */
  const reached: string[] = [];
  let door: Gate;
  /** All that was sent to the other port of the host. */
  const received: { url: string; headers: Record<string, string>; body: string }[] = [];

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    folder = mkdtempSync(join(tmpdir(), 'steward-pages-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(
      join(folder, 'index.html'),
      '<!doctype html><title>own</title><p>SECRET PAGE</p><script src="/assets/own.js"></script>',
    );
    writeFileSync(join(folder, 'assets', 'own.js'), 'window.stolen = "SECRET"; document.title = "ran";');
    writeFileSync(
      join(folder, 'assets', 'pixel.svg'),
      '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    );
    evil = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () =>
        received.push({ url: request.url ?? '', headers: request.headers as Record<string, string>, body }),
      );
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(request.url === '/' ? ATTACKS(`http://127.0.0.1:${port}`) : ATTACKS(''));
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    evilPort = (evil.address() as { port: number }).port;
    // A name of the attacker's that leads to our address: what a name server does that is bound anew.
    browser = await launchBrowser(['--host-resolver-rules=MAP rebind.example 127.0.0.1']);
  });
  after(async () => {
    await browser?.close();
    evil?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const serve = async (requireToken: boolean, pages = folder, at = 0): Promise<void> => {
    door = gate(systemClock(), requireToken ? TOKEN : undefined);
    const routes: Route[] = [
      { method: 'GET', path: '/api/secret', run: () => ({ secret: 'SECRET' }) },
      ...['/api/sense/status', '/api/work/status', '/api/notify', '/api/inbox'].map((path) => ({
        ...{
          method: 'GET' as const,
          path,
          run: () => ({ sources: [], history: [], muted: { muted: false, until: null } }),
        },
      })),
      { method: 'POST', path: '/do', status: 202, run: () => ({ done: ++done }) },
    ];
    const own = ownRoutes({
      version: '1',
      build: '1',
      status: () => Promise.resolve(STATUS),
      end: () => (done += 1),
      url: () => `http://127.0.0.1:${port}`,
      gate: door,
    });
    const app = daemonApp({
      routes: [
        ...own,
        ...routes,
        ...pageRoutes({
          clock: systemClock(),
          pages,
          assets: pages === PAGES ? ASSETS : join(folder, 'assets'),
        }),
      ],
      policy: policyFor('127.0.0.1'),
      gate: door,
      otherUsers: false,
      onFault: (_, error) => {
        throw error;
      },
    });
    const watched = {
      ...app,
      answer: (...[head, body]: Parameters<typeof app.answer>) => {
        reached.push(`${head.method} ${head.target}`);
        return app.answer(head, body);
      },
    };
    server = httpServer(watched, SERVER_LIMITS);
    port = await server.listenTcp('127.0.0.1', at);
  };
  const open = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };

  beforeEach(async () => {
    done = 0;
    reached.length = 0;
    received.length = 0;
    context = await browser.newContext();
  });
  afterEach(async () => {
    await context.close();
    await server.close(1000);
  });

  const attack = (page: Page): Promise<Record<string, string>> => page.evaluate('attack()');

  for (const [name, host] of [
    ['another site', 'rebind.example'],
    ['another port of localhost', '127.0.0.1'],
  ] as const) {
    it(`gives a page of ${name} nothing to read and does nothing for it`, async () => {
      await serve(false);
      const page = await open(`http://${host}:${evilPort}/`);
      const result = await attack(page);
      expect(JSON.stringify(result)).not.to.include('SECRET');
      for (const key of ['get', 'withCookies', 'postText', 'postJson'])
        expect(result[key], key).to.match(/^failed/);
      // Cross-origin-resource-policy makes even what is opaque fail.
      expect(result['opaque']).to.match(/^failed|^status 0 opaque $/);
      expect(result).to.include({ image: 'failed', script: 'failed' });
      expect(done).to.equal(0);
      expect(reached).to.deep.equal([]);
    });
  }

  it('gives a page whose name was bound anew to our address nothing', async () => {
    await serve(false);
    const page = await context.newPage();
    const response = await page.goto(`http://rebind.example:${port}/`);
    expect(response?.status()).to.equal(403);
    const read = await page.evaluate<string>(`(async () => {
      const tell = async (options, path) => {
        try {
          const response = await fetch(path, options);
          return response.status + (await response.text());
        } catch (error) {
          return 'failed';
        }
      };
      const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
      return [await tell({}, '/api/secret'), await tell(json, '/do'), document.body.textContent].join();
    })()`);
    expect(read).not.to.include('SECRET');
    expect([done, reached]).to.deep.equal([0, []]);
  });

  it('serves its own pages: their script runs, they read and post, and load nothing from elsewhere', async () => {
    await serve(false);
    const page = await open(`http://127.0.0.1:${port}/`);
    expect(await page.title()).to.equal('ran');
    const own = await page.evaluate<string[]>(`(async () => {
      const get = await fetch('/api/secret');
      const post = await fetch('/do', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
      const text = await fetch('/do', { method: 'POST', body: '{}' });
      const elsewhere = await fetch('http://127.0.0.1:${evilPort}/').then(() => 'read', () => 'refused');
      const inline = document.createElement('script');
      inline.textContent = 'window.inline = true';
      document.body.append(inline);
      return [await get.text(), post.status, text.status, elsewhere, String(window.inline)];
    })()`);
    expect(own.map(String).map((part) => part.trim())).to.deep.equal([
      '{"secret":"SECRET"}',
      '202',
      '415',
      'refused',
      'undefined',
    ]);
    expect(done).to.equal(1);
  });

  const SHOWN = `document.querySelector('#engine').textContent.startsWith('Version 1 ')`;
  const shows = (page: Page, expression: string): Promise<void> =>
    until(expression, () => page.evaluate<boolean>(expression));
  const NOTES = `document.querySelector('#notes').textContent`;

  it('signs a page in by a one-time code, and lets no other port replay what it receives', async () => {
    await serve(true, PAGES);
    const page = await open(`http://127.0.0.1:${port}/status`);
    await shows(page, `${NOTES} !== ''`);
    expect(await page.evaluate(NOTES)).to.match(/^Run steward open.* to sign in\.$/);

    const { code } = door.newCode();
    const signedIn = await open(`http://127.0.0.1:${port}/status#code=${code}`);
    await shows(signedIn, SHOWN);
    expect(signedIn.url(), 'the code is gone from the address').to.equal(`http://127.0.0.1:${port}/status`);
    expect(await signedIn.evaluate(NOTES)).to.equal('');
    const secret = await signedIn.evaluate<string>(`Object.values(localStorage).join()`);
    expect(secret).to.match(/^[\w-]{43}$/);
    await shows(page, SHOWN);
    await signedIn.reload();
    await shows(signedIn, SHOWN);

    const other = await open(`http://127.0.0.1:${evilPort}/`);
    expect(JSON.stringify(await attack(other))).not.to.include('SECRET');
    expect(await other.evaluate('JSON.stringify(localStorage) + document.cookie')).to.equal('{}');
    expect(await context.cookies()).to.deep.equal([]);
    await signedIn.goto(`http://127.0.0.1:${evilPort}/`);
    const told = JSON.stringify(received);
    for (const hidden of [code, secret, TOKEN]) expect(told).not.to.include(hidden);
    expect(received).to.have.length.greaterThan(1);
    for (const { headers } of received) {
      const replayed = await ask(`http://127.0.0.1:${port}/api/secret`, {
        headers: { ...headers, host: `127.0.0.1:${port}` },
      });
      expect(replayed.status).to.equal(401);
    }
    expect(done).to.equal(0);
  });

  it('asks a page to sign in again after the daemon was restarted, and refuses a used code', async () => {
    await serve(true, PAGES);
    const { code } = door.newCode();
    const page = await open(`http://127.0.0.1:${port}/status#code=${code}`);
    await shows(page, SHOWN);
    await server.close(1000);
    await serve(true, PAGES, port);
    await page.reload();
    await shows(page, `${NOTES}.includes('to sign in')`);
    await page.goto(`http://127.0.0.1:${port}/sense#code=${code}`);
    await shows(page, `${NOTES}.includes('already been used')`);
    expect(page.url()).to.equal(`http://127.0.0.1:${port}/sense`);
    // The link in a page that is open already: only the fragment changes.
    await page.goto(`http://127.0.0.1:${port}/status`);
    await page.goto(`http://127.0.0.1:${port}/status#code=${door.newCode().code}`);
    await shows(page, SHOWN);
    await until('no request is open', () => server.load().open === 0);
  });

  it('shows its pages without a sign-in where no token is required', async () => {
    await serve(false, PAGES);
    const page = await open(`http://127.0.0.1:${port}/status#code=of-another-daemon`);
    await shows(page, SHOWN);
    expect(await page.evaluate(`${NOTES} + localStorage.length`)).to.match(
      /^This sign-in link has .*link\.Titles and branches are not shown\..*0$/,
    );
  });
});
