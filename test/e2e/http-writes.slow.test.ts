import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { ask, startDaemon, type RunningDaemon } from '../helpers/daemon';
import { startGitHub, type GitHub } from '../helpers/github';
import { issuesOf } from '../helpers/work-kill';

const WRITES = {
  '/api/work/claim': { number: 1 },
  '/api/work/move': { number: 1, status: 'blocked' },
  '/api/work/snooze': { number: 1, when: '2h' },
  '/api/work/close': { number: 1, evidence: 'Done' },
  '/api/work/add': { title: 'Intruder' },
  '/api/work/remind': { text: 'Intruder' },
  '/api/work/undo': { keys: ['k'] },
  '/api/notify/retry': { id: '20261120T080000123Z-0123456789ab' },
  '/api/notify/mute': {},
  '/api/notify/unmute': {},
  '/api/sense/classify': { app: 'Intruder', kind: 'creation' },
} as const;

describe('changing something over HTTP, attacked (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub;
  let daemon: RunningDaemon;
  before(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    await steward(['work', 'setup', 'ann/work'], { home: home.path, env });
    await steward(['work', 'add', 'Mine'], { home: home.path, env });
    daemon = await startDaemon({ home: home.path, env });
  });
  after(async () => {
    await daemon.stop();
    await github.close();
    home.remove();
  });

  const signIn = async (): Promise<string> => {
    const { url } = jsonOf(await steward(['open', '--print', '--json'], { home: home.path })) as {
      url: string;
    };
    const body = JSON.stringify({ code: new URL(url).hash.slice('#code='.length) });
    const { text } = await ask(`${daemon.url}/api/sign-in`, { method: 'POST', body });
    return `Bearer ${(JSON.parse(text) as { secret: string }).secret}`;
  };

  it('refuses everybody but a page that was signed in, and changes nothing', async () => {
    const authorization = await signIn();
    const { host } = new URL(daemon.url);
    const json = { 'content-type': 'application/json' };
    const attacks: [string, number, Record<string, string>, string?][] = [
      ['no secret', 403, {}],
      ['a wrong secret', 403, { authorization: `Bearer ${'x'.repeat(43)}` }],
      ['the secret as basic', 403, { authorization: authorization.replace('Bearer', 'Basic') }],
      ['the secret as a cookie', 403, { cookie: `steward-secret=${authorization.slice(7)}` }],
      ['another origin', 403, { ...json, authorization, origin: 'http://evil.example' }],
      ['no origin of its own', 403, { ...json, authorization, origin: 'null' }],
      ['another site', 403, { authorization, 'sec-fetch-site': 'cross-site' }],
      ['another port', 403, { authorization, 'sec-fetch-site': 'same-site' }],
      ['another host', 403, { authorization, host: 'evil.example' }],
      ['a form', 415, { authorization, origin: `http://${host}`, 'content-type': 'text/plain' }],
      ['a compressed body', 415, { authorization, 'content-encoding': 'gzip' }],
      ['a large body', 413, { authorization }, JSON.stringify({ number: 1, evidence: 'x'.repeat(70_000) })],
      ['no JSON', 400, { authorization }, 'number=1'],
      ['no object', 400, { authorization }, '[1]'],
      ['no body', 400, { authorization }, ''],
    ];
    for (const [name, input] of Object.entries(WRITES)) {
      const url = `${daemon.url}${name}`;
      for (const [what, status, headers, body = JSON.stringify(input)] of attacks) {
        const reply = await ask(url, { method: 'POST', headers, body });
        expect(reply.status, `${name}: ${what}: ${reply.text}`).to.equal(status);
      }
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
        expect((await ask(url, { method, headers: { authorization } })).status, method).to.equal(405);
      for (const bad of [
        { ...input, more: 1 },
        { ...input, number: '1; rm' },
        { ...input, number: 1.5 },
        { ...input, kind: 'none' },
        { ...input, since: '../2026-11-20' },
      ]) {
        const reply = await ask(url, {
          method: 'POST',
          headers: { authorization },
          body: JSON.stringify(bad),
        });
        expect(reply.status, `${name} ${JSON.stringify(bad)}`).to.equal(400);
      }
      const inQuery = await ask(`${url}?number=1`, {
        method: 'POST',
        headers: { authorization },
        body: '{}',
      });
      expect(inQuery.status).to.equal(400);
    }
    const issues = await issuesOf(github, 'ann/work');
    expect(issues.map(({ title, state, labels }) => [title, state, labels.length])).to.deep.equal([
      ['Mine', 'open', 2],
    ]);
    expect(existsSync(join(home.path, '.steward', 'sense', 'classify.yaml'))).to.equal(false);
    const headers = { authorization, origin: `http://${host}`, ...json };
    const body = JSON.stringify(WRITES['/api/work/claim']);
    expect((await ask(`${daemon.url}/api/work/claim`, { method: 'POST', headers, body })).status).to.equal(
      200,
    );
  });

  it('takes the secret still after a restart, but not that of another machine', async () => {
    const authorization = await signIn();
    const before = daemon.pid;
    expect((await steward(['daemon', 'restart'], { home: home.path })).code).to.equal(0);
    const now = jsonOf(await steward(['daemon', 'status', '--json'], { home: home.path })) as { pid: number };
    expect(now.pid).not.to.equal(before);
    const body = JSON.stringify(WRITES['/api/work/add']);
    const add = (headers: Record<string, string>) =>
      ask(`${daemon.url}/api/work/add`, { method: 'POST', headers, body });
    expect((await add({ authorization })).status).to.equal(200);
    expect((await add({ authorization: `${authorization.slice(0, -1)}~` })).status).to.equal(403);
  });
});
