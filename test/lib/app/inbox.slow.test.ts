import { expect } from 'chai';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { createContext, type Context } from '../../../src/lib/app/context';
import { openInbox } from '../../../src/lib/app/inbox';
import { codex } from '../../../src/lib/assistant/codex';
import { installHooks } from '../../../src/lib/assistant/install';
import { installerDeps } from '../../../src/lib/app/context';
import { loadConfig } from '../../../src/lib/config/load';
import { logEnd } from '../../../src/lib/notify/history';
import { newId, outboxOf, type Delivery } from '../../../src/lib/notify/outbox';
import { bury, put } from '../../../src/lib/platform/files/spool';
import { toIso } from '../../../src/lib/platform/time/clock';
import { makeBody } from '../../../src/lib/work/issue';
import { refresh } from '../../../src/lib/work/poll';
import { githubHost } from '../../../src/lib/work/host/github';
import { refreshReviews } from '../../../src/lib/work/reviews';
import { closeServer, startGitHub, type GitHub } from '../../helpers/github';
import { readyWorld, type WorkWorld } from '../../helpers/work';

describe('the rows of the inbox beside the sessions', function () {
  this.timeout(120_000);
  let github: GitHub;
  let world: WorkWorld;
  let context: Context;

  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await readyWorld(github);
    const { area, home } = world.at;
    context = {
      ...createContext('.'),
      clock: world.deps.clock,
      area,
      machineId: world.deps.machineId,
      loadConfig: () => loadConfig({ area, env: {}, home }),
    } as Context;
  });
  after(async () => {
    world.remove();
    await github.close();
  });
  const rows = async (kind: string): Promise<string[]> =>
    (await openInbox(context)).rows.filter((row) => row.kind === kind).map(({ name, why, title }) => `${name} ${why}: ${title}`); // prettier-ignore

  it('are review requests, read in one conditional request and cached', async () => {
    const seen: string[] = [];
    let titles = ['Fix it'];
    const server = createServer((request, response) => {
      const etag = `"${titles.length}"`;
      const isSame = request.headers['if-none-match'] === etag;
      seen.push(`${decodeURIComponent(request.url ?? '').replace(/\+/g, ' ')} ${isSame ? 304 : 200}`);
      const items = titles.map((title, index) => {
        const url = 'https://api.github.com/repos/ann/shop';
        return { number: index + 7, title, repository_url: url, updated_at: '2026-11-20T09:00:00Z' };
      });
      response.writeHead(isSame ? 304 : 200, { etag, 'content-type': 'application/json' });
      response.end(
        isSame ? '' : JSON.stringify({ total_count: items.length, incomplete_results: false, items }),
      );
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const host = githubHost({
      clock: world.deps.clock,
      run: context.run,
      env: { GITHUB_API_URL: url, GH_TOKEN: github.token },
      userAgent: 'steward/test',
      maxWaitMs: 50,
    });
    const deps = { ...world.deps, host: () => host };
    for (const expected of [1, 1, 2]) {
      if (expected === 2) titles = ['Fix it', 'Then \u001b[31mthis'];
      await refreshReviews(deps);
      expect(await rows('review')).to.have.length(expected);
    }
    expect(seen.map((line) => line.slice(-3))).to.deep.equal(['200', '304', '200']);
    expect(seen[0]).to.include('is:open is:pr review-requested:@me archived:false');
    expect(await rows('review')).to.include('shop#7 review requested: Fix it');
    expect((await rows('review')).join()).not.to.include('\u001b');
    await closeServer(server);
    expect(await rows('review'), 'from the cache').to.have.length(2);
  });

  it('are due reminders, and issues that need you', async () => {
    for (const [title, label] of [
      ['Call', 'Type:reminder'],
      ['Decide', 'Status:needs-human'],
      ['Later', 'Status:ready'],
    ])
      await github.api('POST', '/repos/ann/work/issues', { title, labels: [label], body: makeBody('x', { kind: 'slug', value: title ?? '' }, { due: label === 'Type:reminder' ? '2026-11-01T09:00:00.000Z' : undefined }) }); // prettier-ignore
    await refresh(world.deps);
    expect(await rows('reminder')).to.deep.equal(['#1 due: Call']);
    expect((await rows('issue')).join())
      .to.include('needs you: Decide')
      .and.not.include('Later');
  });

  it('are notifications that failed for good', async () => {
    const about = { event: 'error', priority: 4, message: 'Deployed', tags: [], silent: false } as const;
    const now = toIso(world.deps.clock.now());
    const counts = { attempts: 3, interrupted: 0, sentParts: 0, at: now, nextAt: now };
    const { area, machineId } = context;
    const delivery: Delivery = { id: newId(context.clock), channel: 'push', machine: machineId, ...about, ...counts, tags: [] }; // prettier-ignore
    put(outboxOf(area), delivery);
    const history = { clock: context.clock, history: area.notifyLog };
    logEnd(history, { ...delivery, result: 'failed', reason: 'The server is gone.' });
    bury(outboxOf(area), 'waiting', `${delivery.id}.push.json`, { atMs: context.clock.now() });
    expect((await rows('delivery')).join()).to.match(/^notice-\w{5} not delivered: Deployed$/);
  });

  it('are hooks that their assistant does not trust', async () => {
    const folder = join(world.at.home, '.codex');
    mkdirSync(folder);
    writeFileSync(join(folder, 'config.toml'), '');
    const deps = installerDeps(context);
    await installHooks(
      { ...deps, host: { ...deps.host, home: world.at.home, env: {} } },
      { assistant: codex, dryRun: false },
    );
    expect((await rows('hooks')).join()).to.include('Codex CLI: not trusted yet: run /hooks in codex');
  });
});
