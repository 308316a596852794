import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { StewardError } from '../../../../src/lib/errors';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import { run } from '../../../../src/lib/platform/process/process';
import { failureOf, isAmbiguous } from '../../../../src/lib/work/host/failure';
import { githubHost } from '../../../../src/lib/work/host/github';
import type { Host } from '../../../../src/lib/work/host';
import { closeServer, startGitHub, type Fault, type GitHub } from '../../../helpers/github';
import { rejection } from '../../../helpers/errors';

const REPO = 'ann/work';

describe('work: the GitHub host', function () {
  this.timeout(60_000);
  let github: GitHub;
  let host: Host;
  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }, { name: 'open', private: false }] });
  });
  after(() => github.close());
  beforeEach(async () => {
    github.fault = () => undefined;
    github.pullRequests = false;
    host = await open();
    github.seen.length = 0;
  });

  const open = (
    env: NodeJS.ProcessEnv = {},
    more: Pick<Parameters<typeof githubHost>[0], 'timeoutMs' | 'bounds'> = {},
  ): Promise<Host> =>
    githubHost({
      clock: systemClock(),
      run,
      env: { GITHUB_API_URL: github.url, GH_TOKEN: github.token, ...env },
      userAgent: 'steward/test',
      maxWaitMs: 50,
      writesPerMinute: 100_000,
      secondMs: 1,
      ...more,
    });
  const always = (fault: Fault): void => {
    github.fault = () => fault;
  };

  it('reads a repository, and creates a private one', async () => {
    expect(await host.repository(REPO)).to.deep.include({
      repo: REPO,
      visibility: 'private',
      hasIssues: true,
      archived: false,
    });
    expect((await host.repository('ann/open')).visibility).to.equal('public');
    expect(await host.createRepository('ann/made')).to.include({ repo: 'ann/made', visibility: 'private' });
  });

  it('creates, reads, edits, comments and closes an issue, with its labels and their events', async () => {
    for (const name of ['Status:ready', 'Agent:kai'])
      await host.createLabel(REPO, { name, color: '00ff00', description: 'd' });
    const labels = await host.labels(REPO, {});
    expect(labels).to.deep.include({ unchanged: false });
    const made = await host.createIssue(REPO, { title: 'A', body: 'b', labels: ['Status:ready'] });
    expect(made).to.include({ title: 'A', body: 'b', state: 'open', closedAt: null });
    expect(await host.addLabels(REPO, made.number, ['Agent:kai'])).to.have.members([
      'Status:ready',
      'Agent:kai',
    ]);
    await host.removeLabel(REPO, made.number, 'Status:ready');
    await host.removeLabel(REPO, made.number, 'Status:ready');
    expect(
      (await host.labelEvents(REPO, made.number)).map(({ event, label }) => `${event} ${label}`),
    ).to.deep.equal(['labeled Agent:kai', 'unlabeled Status:ready']);
    expect((await host.comment(REPO, made.number, 'done')).url).to.include('issuecomment');
    expect((await host.comments(REPO, made.number)).map(({ author, body }) => [author, body])).to.deep.equal([
      ['ann', 'done'],
    ]);
    const closed = await host.updateIssue(REPO, made.number, { state: 'closed', stateReason: 'completed' });
    expect(closed).to.include({ state: 'closed', stateReason: 'completed' });
    expect(await host.issue(REPO, made.number)).to.deep.equal(closed);
  });

  it('lists all pages without pull requests; an unchanged list costs one 304', async () => {
    const from = (await host.issues(REPO, {})) as { value: { number: number }[] };
    for (let n = 0; n < 205; n += 1) await github.api('POST', `/repos/${REPO}/issues`, { title: `n ${n}` });
    github.pullRequests = true;
    github.seen.length = 0;
    const all = await host.issues(REPO, {});
    if (all.unchanged) throw new Error('it is the first question');
    expect(all.value).to.have.length(from.value.length + 205);
    expect(new Set(all.value.map(({ number }) => number)).size).to.equal(all.value.length);
    expect(github.seen).to.have.length(3);
    expect(all.etag, 'of several pages the first says nothing').to.equal(null);

    const since = all.value.at(-1)?.updatedAt ?? '';
    const few = await host.issues(REPO, { since });
    if (few.unchanged || few.etag === null) throw new Error('it has one page');
    github.seen.length = 0;
    expect(await host.issues(REPO, { since, etag: few.etag })).to.deep.equal({ unchanged: true });
    expect(github.seen.map(({ status }) => status)).to.deep.equal([304]);
  });

  const failures: [name: string, fault: Fault, kind: string, reason: string, words: RegExp, ambiguous: boolean][] = [
    ['401', { status: 401 }, 'auth', 'unauthenticated', /rejected the credential from GH_TOKEN/, false],
    ['403', { status: 403, body: { message: 'Resource not accessible' } }, 'auth', 'forbidden', /has no access to #1 in ann\/work: Resource not accessible/, false],
    ['403 with retry-after', { status: 403, headers: { 'retry-after': '77' }, body: { message: 'secondary rate limit' } }, 'unavailable', 'limited', /retry in 77 s/, false],
    ['403 of the hour', { status: 403, headers: { 'x-ratelimit-remaining': '0', get 'x-ratelimit-reset'() { return String(Math.floor(Date.now() / 1000) + 1200); } } }, 'unavailable', 'limited', /retry in (19|20) min/, false],
    ['429', { status: 429, headers: { 'retry-after': '600' } }, 'unavailable', 'limited', /retry in 10 min/, false],
    ['404', { status: 404 }, 'not_found', 'missing', /#1 in ann\/work not found on .*, or not visible/, false],
    ['410', { status: 410 }, 'not_found', 'gone', /was deleted, or its issues are disabled/, false],
    ['422', { status: 422, body: { message: 'Validation Failed', errors: [{ field: 'title', code: 'too_long' }] } }, 'conflict', 'rejected', /Validation Failed; title too_long/, false],
    ['502', { status: 502, body: '<html>' }, 'unavailable', 'trouble', /^Server error 502 from /, true],
    ['301', { status: 301, headers: { location: 'http://127.0.0.1:9/elsewhere' } }, 'conflict', 'moved', /has moved; the credential was not sent/, false],
    ['an answer that is no JSON object', { status: 200, body: 'sign in, please' }, 'unavailable', 'garbled', /^Unexpected response from /, true],
    ['an empty answer', { status: 200, body: '' }, 'unavailable', 'garbled', /^Unexpected response from /, true],
    ['a broken connection', 'reset', 'unavailable', 'reset', /connection to .* was lost/, true],
    ['an answer that was cut', 'cut', 'unavailable', 'reset', /connection to .* was lost/, true],
  ]; // prettier-ignore
  for (const [name, fault, kind, reason, words, ambiguous] of failures) {
    it(`tells ${name} apart, in plain words`, async () => {
      always(fault);
      const error = await rejection(host.issue(REPO, 1));
      expect(error.kind).to.equal(kind);
      expect(error.message).to.match(words);
      expect(error.hint ?? '').not.to.equal('');
      expect(failureOf(error)).to.include({ reason });
      expect(isAmbiguous(error)).to.equal(ambiguous);
      expect(JSON.stringify([error.message, error.hint, error.cause])).not.to.include(github.token);
      // A list is never taken for an empty one.
      const listed = await rejection(host.issues(REPO, {}));
      expect(failureOf(listed)).to.include({ reason });
    });
  }

  it('distinguishes a refused connection, an unknown host and a timeout', async () => {
    // No port that the system gives to anybody: one that was free just now may be another test's by then.
    const refused = await open({ GITHUB_API_URL: 'http://127.0.0.1:2' });
    expect(failureOf(await rejection(refused.repository(REPO)))).to.include({ reason: 'refused' });
    const nowhere = await open({ GITHUB_API_URL: 'https://steward-test.invalid' });
    const offline = await rejection(nowhere.repository(REPO));
    expect(failureOf(offline)).to.include({ reason: 'offline' });
    expect(offline.message).to.match(/this machine is offline/);
    always('hang');
    const slow = await open({}, { timeoutMs: 1500 });
    expect(failureOf(await rejection(slow.repository(REPO)))).to.include({ reason: 'timeout' });
  });

  it('never retries a creation or a comment, but retries a read', async () => {
    for (const fault of ['drop', 'reset', { status: 503 }] as Fault[]) {
      github.seen.length = 0;
      always(fault);
      await rejection(host.createIssue(REPO, { title: 'once', body: '', labels: [] }));
      await rejection(host.comment(REPO, 1, 'once'));
      expect(github.seen, JSON.stringify(fault)).to.have.length(2);
    }
    let left = 1;
    github.fault = () => (left-- > 0 ? { status: 502 } : undefined);
    expect((await host.repository(REPO)).repo).to.equal(REPO);
  });

  it('waits once for a short rate limit', async () => {
    let times = 0;
    const limited: Fault = { status: 403, headers: { 'retry-after': '5' }, body: { message: 'You have exceeded a secondary rate limit' } }; // prettier-ignore
    github.fault = () => (times++ === 0 ? limited : undefined);
    expect((await host.createIssue(REPO, { title: 'after a wait', body: '', labels: [] })).title).to.equal('after a wait'); // prettier-ignore
    expect(times).to.equal(2);
  });

  it('sends its credential to no other host', async () => {
    const asked: string[] = [];
    const thief = createServer((request, response) => {
      asked.push(String(request.headers.authorization));
      response.end('[]');
    });
    await new Promise<void>((done) => thief.listen(0, '127.0.0.1', done));
    try {
      const there = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/x`;
      for (const status of [301, 302, 307, 308]) {
        always({ status, headers: { location: there } });
        expect(failureOf(await rejection(host.issues(REPO, {})))).to.include({ reason: 'moved' });
      }
      always({ status: 200, headers: { link: `<${there}>; rel="next"` }, body: [] });
      expect((await rejection(host.issues(REPO, {}))).message).to.match(/was redirected to another server/);
      expect(asked).to.deep.equal([]);
    } finally {
      await closeServer(thief);
    }
  });

  const hostile = {
    number: 7,
    title: 'Pay\u200b\u202e \u001b[31mAnn\u001b[0m\u{e0041}',
    body: 'as it is \u202e',
    state: 'open',
    labels: [{ name: 'Property:\u001b]0;x\u0007web\u2066' }, 'bug'],
    html_url: 'javascript:alert(1)//issues/7',
    created_at: '2026-11-20T08:00:00Z',
    updated_at: '2026-11-20T08:00:00Z',
    closed_at: null,
  };

  it('cleans texts, and returns addresses of the same site only', async () => {
    const page = `${github.url}/${REPO}/issues/7`;
    always({ status: 200, body: hostile });
    expect(await host.issue(REPO, 7)).to.deep.include({
      title: 'Pay Ann',
      body: hostile.body,
      labels: ['Property:web', 'bug'],
      url: page,
    });
    for (const url of ['https://evil.example/ann/work/issues/7', `${page}\u001b[31m`, `${page}?a`, null, 7]) {
      always({ status: 200, body: { ...hostile, html_url: url } });
      expect((await host.issue(REPO, 7)).url, String(url)).to.equal(page);
    }
    const author = { user: { login: 'ann\u202e' }, body: '', created_at: hostile.created_at };
    always({ status: 200, body: [author] });
    expect((await host.comments(REPO, 7)).map((one) => one.author)).to.deep.equal(['ann']);
    always({ status: 200, body: [{ name: 'a\u0007b', color: 'red\u001b', description: 'c\u200bd' }] });
    expect(await host.labels(REPO, {})).to.deep.include({
      value: [{ name: 'ab', color: '', description: 'cd' }],
    });
  });

  it('skips and counts malformed issues, and rejects a list of nothing else', async () => {
    const wrong = [
      { number: 1e308 },
      { number: -5 },
      { number: 1.5 },
      { number: '8' },
      { title: null },
      { state: 'maybe' },
      { created_at: 'yesterday' },
      { updated_at: '2026-02-30T00:00:00Z' },
      { closed_at: 4 },
      { labels: 'bug' },
      { labels: [{ name: 4 }] },
    ].map((one) => ({ ...hostile, ...one }));
    always({ status: 200, body: [...wrong, 'text', null, hostile] });
    const found = await host.issues(REPO, {});
    if (found.unchanged) throw new Error('it is the first question');
    expect(found.value.map(({ number }) => number)).to.deep.equal([7]);
    expect(found.malformed).to.equal(wrong.length + 2);
    always({ status: 200, body: wrong });
    expect(failureOf(await rejection(host.issues(REPO, {})))).to.include({ reason: 'garbled' });
    // An event that is missing could change who has a claim.
    always({
      status: 200,
      body: [
        { id: 1e308, event: 'labeled' },
        { id: 1, event: 'closed' },
      ],
    });
    expect(failureOf(await rejection(host.labelEvents(REPO, 7)))).to.include({ reason: 'garbled' });
  });

  describe('that gives too much', () => {
    const bounds = { answerBytes: 100_000, listPages: 5, listBytes: 1_000_000, listMs: 60_000 };
    let asked = 0;
    let page = (): object[] => [];
    const endless = createServer((request, response) => {
      asked += 1;
      response.setHeader('content-type', 'application/json');
      if (request.url?.includes('/comments') !== true) {
        const { port } = endless.address() as AddressInfo;
        response.setHeader('link', `<http://127.0.0.1:${port}/next?page=${asked}>; rel="next"`);
        response.end(JSON.stringify(page()));
        return;
      }
      const write = (): void => {
        while (response.write('['.repeat(10_000)));
      };
      response.on('drain', write);
      write();
    });
    const openEndless = (more: Partial<typeof bounds> = {}): Promise<Host> => {
      const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
      return open({ GITHUB_API_URL: url }, { bounds: { ...bounds, ...more } });
    };
    before(() => new Promise<void>((done) => endless.listen(0, '127.0.0.1', done)));
    after(() => closeServer(endless));
    beforeEach(() => {
      asked = 0;
      page = () => [{ ...hostile, number: asked }];
    });

    it('in an answer is not read to its end', async () => {
      const error = await rejection((await openEndless()).comments(REPO, 7));
      expect(error).to.include({ kind: 'unavailable' });
      expect(error.message).to.match(/^The response from 127\.0\.0\.1:\d+ is too large\.$/);
      expect(asked).to.equal(1);
    });

    it('in pages is an error and not a part of a list', async () => {
      const error = await rejection((await openEndless()).issues(REPO, {}));
      expect(error.message).to.match(/^The list for ann\/work on .* exceeds 5 pages\.$/);
      expect(asked).to.equal(6);
    });

    it('again and again, is read once more only', async () => {
      page = () => [hostile];
      const error = await rejection((await openEndless({ listPages: 10_000 })).issues(REPO, {}));
      expect(failureOf(error)).to.include({ reason: 'garbled' });
      expect(asked).to.equal(2);
    });

    it('is counted in bytes, and kept without its texts', async () => {
      page = () => [{ ...hostile, number: asked, body: '\u20ac'.repeat(1000) }];
      const large = await rejection((await openEndless({ listBytes: 9000 })).issues(REPO, {}));
      expect(large.message).to.match(/^The list for .* exceeds /);
      expect(asked, 'three bytes a character').to.equal(3);
      const all = await (await open()).issues(REPO, {});
      if (all.unchanged) throw new Error('it is the first question');
      for (const issue of all.value) expect(issue).not.to.have.property('body');
    });

    it('in all, or in all the time, is one, too', async () => {
      page = () => Array.from({ length: 50 }, () => ({ ...hostile, number: asked, body: 'x'.repeat(1000) }));
      const large = await rejection((await openEndless({ listBytes: 90_000 })).issues(REPO, {}));
      expect(large.message).to.match(/ exceeds 0 MiB\.$/);
      expect(asked).to.equal(2);
      const slow = await rejection((await openEndless({ listMs: 0, listPages: 10_000 })).issues(REPO, {}));
      expect(slow.message).to.match(/exceeds what can be read in 0 minutes\.$/);
    });
  });

  it('uses the proxy of the environment, except for NO_PROXY', async () => {
    const through: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      through.push(request.url ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    try {
      const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const env = { GITHUB_API_URL: 'https://steward-test.invalid', HTTPS_PROXY: at };
      const proxied = await open(env);
      await rejection(proxied.repository(REPO));
      expect(new Set(through)).to.deep.equal(new Set(['steward-test.invalid:443']));
      through.length = 0;
      const direct = await open({ ...env, NO_PROXY: 'steward-test.invalid' });
      expect(failureOf(await rejection(direct.repository(REPO)))).to.include({ reason: 'offline' });
      expect(through).to.deep.equal([]);
    } finally {
      await closeServer(proxy);
    }
  });

  it('rejects an unsafe address before reading a credential', async () => {
    for (const url of ['http://example.org', 'ftp://x', 'not an address', 'https://u:p@example.org'])
      expect((await rejection(open({ GITHUB_API_URL: url }))).kind, url).to.equal('config');
  });

  it('prefers GH_TOKEN to GITHUB_TOKEN, and reports a missing credential', async () => {
    expect(await (await open({ GITHUB_TOKEN: 'wrong_one' })).repository(REPO)).to.include({ repo: REPO });
    const second = await open({ GH_TOKEN: '', GITHUB_TOKEN: github.token });
    expect(await second.repository(REPO)).to.include({ repo: REPO });
    const none = (): Promise<never> => Promise.reject(new StewardError('not_found', 'gh is not installed'));
    const error = await rejection(
      githubHost({ clock: systemClock(), run: none, env: {}, userAgent: 'x', maxWaitMs: 0 }),
    );
    expect(error.kind).to.equal('auth');
    expect(error.hint).to.match(/Install .*gh auth login.*GH_TOKEN/);
  });
});
