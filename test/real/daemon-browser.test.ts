import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';

import type { Route } from '../../src/lib/daemon/route';
import { daemonApp } from '../../src/lib/daemon/app';
import { gate } from '../../src/lib/daemon/gate';
import { policyFor } from '../../src/lib/daemon/guards';
import { ownRoutes } from '../../src/lib/daemon/own-routes';
import { pageRoutes } from '../../src/lib/daemon/pages';
import { systemClock } from '../../src/lib/platform/clock';
import { httpServer, type HttpServer } from '../../src/lib/platform/http-server';
import { SERVER_LIMITS } from '../../src/lib/platform/http-application';
import { launchBrowser } from '../helpers/browser';
import { until } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';

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
  const door = gate(systemClock(), 'a-token-of-more-than-thirty-two-characters', () => port);

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    folder = mkdtempSync(join(tmpdir(), 'steward-pages-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(
      join(folder, 'index.html'),
      '<!doctype html><title>own</title><p>SECRET PAGE</p><script src="/assets/own.js"></script>',
    );
    writeFileSync(join(folder, 'own.js'), 'window.stolen = "SECRET"; document.title = "ran";');
    writeFileSync(
      join(folder, 'pixel.svg'),
      '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    );
    evil = createServer((request, response) => {
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

  const serve = async (requireToken: boolean): Promise<void> => {
    const routes: Route[] = [
      { method: 'GET', path: '/api/secret', run: () => ({ secret: 'SECRET' }) },
      { method: 'POST', path: '/do', status: 202, run: () => ({ done: ++done }) },
    ];
    const own = ownRoutes({
      version: '1',
      status: () => Promise.reject(new Error('not asked for')),
      end: () => (done += 1),
      url: () => `http://127.0.0.1:${port}`,
      gate: requireToken ? door : undefined,
    });
    const app = daemonApp({
      routes: [
        ...own,
        ...routes,
        ...pageRoutes({ clock: systemClock(), pages: folder, assets: join(folder, 'assets') }),
      ],
      policy: policyFor('127.0.0.1'),
      isAuthorised: requireToken ? door.isAuthorised : undefined,
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
    port = await server.listenTcp('127.0.0.1', 0);
  };
  const open = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };

  beforeEach(async () => {
    done = 0;
    reached.length = 0;
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

  it('lets a browser in by the one-time link, once, and another page cannot use its cookie', async () => {
    await serve(true);
    const closed = await context.newPage();
    expect((await closed.goto(`http://127.0.0.1:${port}/`))?.status()).to.equal(401);
    const { code } = door.newCode();
    const page = await open(`http://127.0.0.1:${port}/open?code=${code}`);
    expect(page.url()).to.equal(`http://127.0.0.1:${port}/`);
    expect(await page.title()).to.equal('ran');
    expect(await page.evaluate(`fetch('/api/secret').then((response) => response.status)`)).to.equal(200);
    expect(await page.evaluate('document.cookie')).to.equal('');
    const [cookie] = await context.cookies();
    expect(cookie).to.include({ httpOnly: true, sameSite: 'Strict' });

    done = 0;
    const result = await attack(await open(`http://127.0.0.1:${evilPort}/`));
    expect(JSON.stringify(result)).not.to.include('SECRET');
    expect(done).to.equal(0);

    const other = await browser.newContext();
    try {
      const late = await other.newPage();
      expect((await late.goto(`http://127.0.0.1:${port}/open?code=${code}`))?.status()).to.equal(401);
    } finally {
      await other.close();
    }
    await until('no request is open', () => server.load().open === 0);
  });
});
