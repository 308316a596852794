import { expect } from 'chai';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { version } from '../../package.json';
import { createContext } from '../../src/lib/app/context';
import type { DayDocument } from '../../src/lib/daemon/day-route';
import type { Undoable, Undone } from '../../src/lib/work/capture/undo';
import type { NotifyReport } from '../../src/lib/daemon/notify-routes';
import { openDaemon } from '../../src/lib/app/daemon';
import { streamRoute } from '../../src/lib/daemon/changes';
import type { Gate } from '../../src/lib/daemon/guards';
import { ownRoutes } from '../../src/lib/daemon/routes';
import type { Report } from '../../src/lib/report/model';
import type { Classified } from '../../src/lib/sense/classify-file';
import type { Item } from '../../src/lib/work/board';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import type { Usage } from '../../src/lib/usage/rollup';
import { testArea } from '../helpers/area';
import { askIn } from '../helpers/asks';
import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { ask, machineFolder, startDaemon, until, type Reply, type RunningDaemon } from '../helpers/daemon';
import { eventsOf } from '../helpers/dashboard';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { readApi } from '../helpers/openapi';
import { claudeLine, lineOf } from '../helpers/usage';

const ROOT = resolve(__dirname, '..', '..');
const NONE: never[] = [];

const EXTENSION = {
  origin: 'chrome-extension://ihpfcfamkkfoblpohlabmoffkbbfoeka',
  'content-type': 'application/json',
};

describe('docs/openapi.yaml, held against the daemon', function () {
  this.timeout(180_000);
  const api = readApi();
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub | undefined;
  const running: RunningDaemon[] = [];
  /** `200 GET /api/work` and its likes, as the tours met them. */
  const met = new Set<string>();
  beforeEach(() => (home = emptyHome()));
  afterEach(async () => {
    for (const daemon of running.splice(0)) await daemon.stop('SIGKILL');
    await github?.close();
    github = undefined;
    home.remove();
  });

  after(function () {
    // Only a whole run of this file has met everything.
    if (this.test?.parent?.tests.every(({ state }) => state === 'passed') !== true) return;
    const said = [...api.operations].flatMap(([name, operation]) =>
      Object.keys(operation.responses)
        .filter((status) => !operation['x-endless'] || !['200', '503'].includes(status))
        .map((status) => `${status} ${name}`),
    );
    // A broken configuration is answered alike everywhere; one address stands for all.
    // Only a real terminal can be shown: test/real/go.test.ts.
    met.add('200 POST /api/go');
    // Captures hold the lock for half a minute: test/lib/daemon/web-route.test.ts.
    met.add('423 POST /api/sense/web');
    const unmet = said.filter((one) => !met.has(one) && !one.startsWith('500'));
    expect(unmet, 'said by the document, and met by no test').to.deep.equal(NONE);
  });

  const start = async (env: Record<string, string> = {}): Promise<RunningDaemon> => {
    const daemon = await startDaemon({ home: home.path, env });
    running.push(daemon);
    return daemon;
  };
  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const socket = (): string =>
    (JSON.parse(readFileSync(join(machineFolder(home.path), 'daemon.json'), 'utf8')) as { socket: string })
      .socket;

  /** One request, its answer held against the document. `at` is the address where it differs from the path. */
  const visit = async (
    daemon: RunningDaemon,
    operation: string,
    status: number,
    options: Parameters<typeof ask>[1] & { at?: string } = {},
  ): Promise<Reply> => {
    const [method = '', path = ''] = operation.split(' ');
    const reply = await ask(`${daemon.url}${options.at ?? path}`, { method, ...options });
    expect(reply.status, `${operation}: ${reply.text}`).to.equal(status);
    expect(api.faultsOf(operation, reply), `${status} ${operation}: ${reply.text}`).to.deep.equal(NONE);
    met.add(`${status} ${operation}`);
    return reply;
  };

  /** The header of a page that `steward open` has signed in. */
  const signIn = async (daemon: RunningDaemon): Promise<{ authorization: string }> => {
    const opened = await visit(daemon, 'POST /api/open', 200, { socket: socket() });
    const { hash } = new URL((JSON.parse(opened.text) as { url: string }).url);
    const body = JSON.stringify({ code: hash.slice('#code='.length) });
    const { text } = await visit(daemon, 'POST /api/sign-in', 200, { body });
    return { authorization: `Bearer ${(JSON.parse(text) as { secret: string }).secret}` };
  };

  it('has every route of the table, and no other', async () => {
    const box = testArea();
    try {
      const context = createContext(ROOT);
      Object.defineProperty(context, 'area', { value: box.area });
      const { parts } = await openDaemon(context, { port: 0 }, () => undefined);
      const own = ownRoutes({
        version,
        build: version,
        status: () => Promise.reject(new Error('not asked')),
        end: () => undefined,
        url: () => '',
        gate: {} as Gate,
      });
      const changes = streamRoute({
        ...{
          clock: parts.clock,
          topics: parts.topics,
          run: '',
          version,
          hasPageSecret: () => false,
          onFault: () => undefined,
        },
        ask: () => Promise.reject(new Error('not asked')),
      });
      const table = [...own, changes, ...parts.routes].map(({ method, path, isLocal, isOpen }) => ({
        operation: `${method} ${path.startsWith('/assets/') ? '/assets/{name}' : path}`,
        isLocal: isLocal === true,
        isOpen: isOpen === true,
      }));
      expect([...new Set(table.map(({ operation }) => operation))].sort()).to.deep.equal(
        [...api.operations.keys()].sort(),
      );
      for (const { operation, isLocal, isOpen } of table) {
        const documented = api.operations.get(operation);
        expect(documented?.['x-local-only'] === true, operation).to.equal(isLocal);
        const isForOthers = documented?.security?.length === 0 || documented?.['x-extension-only'] === true;
        expect(isForOthers, operation).to.equal(isOpen);
      }
    } finally {
      box.remove();
    }
  });

  it('is of this version, and each operation has a name of its own', () => {
    expect(api.document.info.version).to.equal(version);
    const names = [...api.operations.values()].map(({ operationId }) => operationId);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('says what an empty home is answered', async () => {
    const daemon = await start();
    const gets = [...api.operations].filter(
      ([name, operation]) =>
        name.startsWith('GET') &&
        !name.includes('{') &&
        !operation['x-local-only'] &&
        !operation['x-endless'],
    );
    expect(gets).to.have.length.greaterThan(12);
    for (const [name, { responses }] of gets) {
      const reply = await visit(daemon, name, 200);
      if (responses['304'] === undefined) continue;
      await visit(daemon, name, 304, { headers: { 'if-none-match': String(reply.headers['etag']) } });
    }
    for (const asset of ['steward.css', 'page.js']) {
      const at = `/assets/${asset}`;
      const { headers } = await visit(daemon, 'GET /assets/{name}', 200, { at });
      await visit(daemon, 'GET /assets/{name}', 304, {
        at,
        headers: { 'if-none-match': String(headers['etag']) },
      });
    }
    await visit(daemon, 'GET /assets/{name}', 404, { at: '/assets/none.js' });
    await visit(daemon, 'POST /api/work/refresh', 200);
  });

  it('says how what is wrong is answered, at every address', async () => {
    const daemon = await start();
    const page = await signIn(daemon);
    const meet = (name: string, status: number, options: Parameters<typeof visit>[3]): Promise<Reply> =>
      visit(daemon, name, status, options);
    for (const [name, operation] of api.operations) {
      const {
        'x-local-only': isLocal,
        'x-endless': isEndless,
        'x-extension-only': isOfExtension,
      } = operation;
      const sender = isOfExtension === true ? EXTENSION : page;
      const [method = ''] = name.split(' ');
      const path = name.includes('{') ? '/assets/page.js' : (name.split(' ')[1] ?? '');
      const way = isLocal === true ? { socket: socket() } : {};
      const at = { ...way, at: path };
      if (isLocal !== true) await meet(name, 403, { ...at, headers: { 'sec-fetch-site': 'cross-site' } });
      await meet(name, 403, { ...at, headers: { host: 'example.org' } });
      const other = await meet(name, 405, { ...at, method: 'DELETE' });
      expect(other.headers['allow']).to.equal(method === 'GET' ? 'GET, HEAD' : method);
      if (method === 'GET' && !isEndless) await meet(name, 200, { ...at, at: `${path}?more=1` });
      if (method !== 'POST') continue;
      await meet(name, 415, { ...at, headers: { ...sender, 'content-encoding': 'gzip' }, body: '{}' });
      await meet(name, 413, { ...at, headers: sender, body: `{"message":"${'x'.repeat(70_000)}"}` });
      // The extension's code is checked before the body.
      await meet(name, isOfExtension === true ? 401 : 400, { ...at, headers: sender, body: '{' });
    }
    await meet('GET /api/sense/today', 400, { at: '/api/sense/today?machine=phone' });
    await meet('GET /api/sense/recent', 400, { at: '/api/sense/recent?days=367' });
    await meet('GET /api/sense/recent', 400, { at: '/api/sense/recent?to=yesterday' });
    await meet('GET /api/report', 400, { at: '/api/report?from=2999-01-01' });
    await meet('GET /api/report', 400, { at: '/api/report?from=2020-01-01' });
    await meet('GET /api/report', 400, { at: '/api/report?usage=2' });
    await meet('GET /api/usage', 400, { at: '/api/usage?by=colour' });
    await meet('GET /api/work', 400, { at: '/api/work?full=yes' });
    await meet('GET /api/day', 400, { at: '/api/day?day=12.11.' });
    await meet('GET /api/day', 400, { at: '/api/day?day=2999-01-01' });
    await meet('GET /api/day', 404, { at: '/api/day?day=2001-01-01' });
    await meet('GET /api/sessions', 400, { at: '/api/sessions?all=yes' });
    for (const wrong of [
      {},
      { message: '' },
      { message: 3 },
      { message: 'x'.repeat(4001) },
      { message: 'x', event: 'none' },
      { message: 'x', priority: 6 },
      { message: 'x', tags: ['a b'] },
    ]) {
      expect(api.bodyFaults('POST /notify', wrong), JSON.stringify(wrong)).not.to.deep.equal(NONE);
      await meet('POST /notify', 400, { body: JSON.stringify(wrong) });
    }
  });

  it('says what a home full of things is answered (slow)', async () => {
    github = await startGitHub({ labels: true });
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    const run = async (args: string[], input = ''): Promise<void> => {
      const done = await steward(args, { home: home.path, env, input });
      expect(done.code, `${args.join(' ')}: ${done.stderr}`).to.equal(0);
    };
    await run(['sense', 'init']);
    await run(['config', 'set', 'notify.voice.engine', 'none']);
    await run(['config', 'set', 'notifications.push.topic', 'steward-test-0123456789']);
    await run(['config', 'set', 'notifications.push.server', 'http://127.0.0.1:9']);
    const day = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    mkdirSync(area('sense', 'events'), { recursive: true });
    for (const back of [2, 1, 0]) {
      const lines = eventsOf(day(back), 'UTC', 29).map((event) => `${JSON.stringify(event)}\n`);
      writeFileSync(area('sense', 'events', `${day(back)}.jsonl`), lines.join(''));
    }
    for (const back of [2, 1]) await run(['sense', 'rollup', day(back)]);
    const reply = JSON.stringify({
      narrative: 'Programming, then reading.',
      contentTypes: [{ label: 'programming', share: 1, evidence: 'Ghostty' }],
    });
    writeFileSync(
      join(home.path, 'model.js'),
      `process.stdin.resume().on('end', () => console.log(${JSON.stringify(reply)}));`,
    );
    await run([
      'config',
      'set',
      'sense.insight.command',
      `${process.execPath},${join(home.path, 'model.js')}`,
    ]);
    await run(['sense', 'insight', 'build']);
    await run(['work', 'setup', 'ann/work']);
    await run([
      'work',
      'add',
      'Write the notes',
      '--status',
      'ready',
      '--priority',
      'P1',
      '--property',
      'website',
    ]);
    await run(['work', 'remind', 'call Ann']);
    await run(['work', 'claim', '1', '--agent', 'kai']);
    await run(['hook', 'session-start', '--no-tab'], hookJson('session-start', { cwd: home.path }));
    const log = join(home.path, '.claude', 'projects', 'shop', 's1.jsonl');
    mkdirSync(dirname(log), { recursive: true });
    writeFileSync(log, lineOf(claudeLine({ id: 'm1', at: new Date().toISOString() })));
    const daemon = await start(env);
    await until('the first round', async () => {
      const { jobs } = JSON.parse((await ask(`${daemon.url}/api/status`)).text) as {
        jobs: { lastRun: string | null }[];
      };
      return jobs.every(({ lastRun }) => lastRun !== null);
    });
    const page = await signIn(daemon);
    for (const [name, { 'x-endless': isEndless }] of api.operations)
      if (name.startsWith('GET /api/') && !isEndless)
        for (const headers of [{}, page]) await visit(daemon, name, 200, { headers });
    const { text } = await visit(daemon, 'GET /api/usage', 200, { at: '/api/usage?by=model' });
    expect((JSON.parse(text) as Usage).rows.map(({ key }) => key)).to.deep.equal(['claude-opus-4-8']);
    writeFileSync(join(home.path, '.steward', 'usage', `${day(1)}.json`), '{');
    const damaged = await visit(daemon, 'GET /api/usage', 200, { at: '/api/usage' });
    expect((JSON.parse(damaged.text) as Usage).notes?.join()).to.match(/ is damaged and was skipped\.$/);
    const { text: dayText } = await visit(daemon, 'GET /api/day', 200, { at: `/api/day?day=${day(1)}` });
    const past = JSON.parse(dayText) as DayDocument;
    expect(past).to.include({ day: day(1), final: true, raw: true });
    expect(past.spans).not.to.deep.equal(NONE);
    expect(past.commits).to.have.length(past.record.commits.count);
    const { text: listed } = await visit(daemon, 'GET /api/sessions', 200, { at: '/api/sessions?all=1' });
    expect((JSON.parse(listed) as SessionsReport).sessions).to.have.length(1);
    const recent = await visit(daemon, 'GET /api/sense/recent', 200, { at: '/api/sense/recent?days=2' });
    expect(JSON.parse(recent.text)).to.have.length(2);
    const till = { at: `/api/sense/recent?to=${day(2)}` };
    expect(JSON.parse((await visit(daemon, 'GET /api/sense/recent', 200, till)).text)).to.have.length(1);
    for (const [query, args] of [
      ['', ['standup']],
      [`?from=${day(2)}&to=${day(1)}`, ['standup', '--of', `${day(2)}..${day(1)}`]],
    ] as const) {
      const { text: report } = await visit(daemon, 'GET /api/report', 200, {
        at: `/api/report${query}`,
        headers: page,
      });
      const printed = jsonOf(await steward([...args, '--json'], { home: home.path, env }));
      expect(JSON.parse(report)).to.deep.equal(printed);
    }
    const { text: weekly } = await visit(daemon, 'GET /api/report', 200, { at: '/api/report?usage=1' });
    expect((JSON.parse(weekly) as Report).usage?.rows).to.have.length(1);
    await visit(daemon, 'POST /api/work/refresh', 200);
    const bodies = [
      { message: 'Done' },
      { message: 'Done', phase: 'verify' },
      { message: 'Done', phase: 'no such phase' },
      {
        message: 'Done',
        title: 'Build',
        event: 'error',
        priority: 4,
        durationSec: 400,
        dedupe: 'k',
        url: 'https://example.org/',
        tags: ['a'],
        source: 'job',
        voice_enabled: false,
        voice_id: 'v',
        slug: 'none',
        phase: 'verify',
        more: 1,
      },
    ];
    for (const body of bodies) {
      expect(api.bodyFaults('POST /notify', body)).to.deep.equal(NONE);
      await visit(daemon, 'POST /notify', 202, { body: JSON.stringify(body) });
    }
    await visit(daemon, 'GET /api/status', 200);
    const send = async (name: string, status: number, input: object): Promise<unknown> => {
      const body = JSON.stringify(input);
      if (status < 400) expect(api.bodyFaults(`POST ${name}`, input)).to.deep.equal(NONE);
      return JSON.parse((await visit(daemon, `POST ${name}`, status, { headers: page, body })).text);
    };
    const rule = { app: 'Firefox', kind: 'creation', since: day(2) };
    expect(api.bodyFaults('POST /api/sense/classify', rule)).to.deep.equal(NONE);
    const classified = await visit(daemon, 'POST /api/sense/classify', 200, {
      ...{ headers: page, body: JSON.stringify(rule) },
    });
    expect(JSON.parse(classified.text)).to.include({ app: 'Firefox', kind: 'creation' });
    expect((JSON.parse(classified.text) as Classified).rolled).to.include.members([day(2), day(1)]);
    const { text: after } = await visit(daemon, 'GET /api/day', 200, { at: `/api/day?day=${day(1)}` });
    const { apps } = (JSON.parse(after) as DayDocument).record;
    expect(apps.find(({ app }) => app === 'Firefox')?.kind).to.equal('creation');
    const name = async (status: number, session: string): Promise<unknown> => {
      const body = JSON.stringify({ session, name: 'Shop' });
      return JSON.parse(
        (await visit(daemon, 'POST /api/sessions/name', status, { headers: page, body })).text,
      );
    };
    const [{ slug } = { slug: '' }] = (JSON.parse(listed) as SessionsReport).sessions;
    expect(await name(200, slug)).to.include({ slug, name: 'Shop' });
    await name(404, 'none');
    const go = { headers: page, body: JSON.stringify({ slug }) };
    const refused = await visit(daemon, 'POST /api/go', 503, go);
    expect(refused.text).to.include('The terminal for Shop is unknown.');
    await visit(daemon, 'POST /api/go', 403, { body: go.body });
    await visit(daemon, 'POST /api/go', 404, { headers: page, body: '{"slug":"none"}' });
    const id = await askIn(home.path, 'Which?', ['A']);
    for (const headers of [{}, page]) {
      const inbox = await visit(daemon, 'GET /api/inbox', 200, { headers });
      expect(inbox.text.includes('Which?')).to.equal(headers === page);
    }
    await send('/api/inbox/answer', 400, { id, answer: '2' });
    expect(await send('/api/inbox/answer', 200, { id, answer: '1' })).to.deep.equal({ id });
    await send('/api/inbox/answer', 409, { id, answer: '1' });
    const next = await askIn(home.path, 'Which?', ['A']);
    await send('/api/inbox/mark', 409, { id: next });
    await send('/api/inbox/mark', 400, { id: next, when: 'yesterday' });
    await send('/api/inbox/mark', 404, { id: 'none', when: '1h' });
    expect(await send('/api/inbox/mark', 200, { id: next, when: '1h' })).to.include({ id: next });
    expect((await visit(daemon, 'GET /api/inbox', 200, { headers: page })).text).not.to.include('Which?');
    const write = (name: string, status: number, input: object): Promise<unknown> =>
      send(`/api/work/${name}`, status, input);
    const added = (await write('add', 200, { title: 'From the page', priority: 'P0' })) as Item;
    const { number } = added;
    expect(added).to.include({ type: 'feature', status: 'queued', priority: 'P0' });
    expect(await write('claim', 200, { number, agent: 'ada' })).to.include({ agent: 'ada', already: false });
    expect(await write('move', 200, { number, status: 'blocked', reason: 'no key' })).to.include({
      lane: 'Blocked',
    });
    const reminder = (await write('remind', 200, { text: 'call Bob', at: 'tomorrow 9am' })) as Item;
    const snoozed = (await write('snooze', 200, { number: reminder.number, when: '2h' })) as Item;
    expect(snoozed.due).not.to.equal(reminder.due);
    expect(await write('close', 200, { number, evidence: '@/etc/hostname' })).to.include({
      lane: 'Complete',
    });
    const comments = (await github.api('GET', `/repos/ann/work/issues/${number}/comments`)) as unknown[];
    expect(comments.at(-1), 'a text, never a file').to.include({ body: '@/etc/hostname' });
    for (const [name, input] of [
      ['claim', {}],
      ['move', { status: 'ready' }],
      ['snooze', { when: '2h' }],
      ['close', { evidence: 'Done' }],
    ] as const) {
      await write(name, 409, { number: name === 'snooze' ? 1 : number, ...input });
      await write(name, 404, { number: 999, ...input });
    }
    await write('undo', 409, { keys: ['unknown'] });
    await run(['hook', 'prompt', '--no-tab'], hookJson('prompt', { cwd: home.path, prompt: 'queue the notes for later' })); // prettier-ignore
    const found = JSON.parse((await visit(daemon, 'GET /api/work/captures', 200)).text) as {
      captures: Undoable[];
    };
    const { undone } = (await write('undo', 200, { keys: found.captures.map(({ key }) => key) })) as {
      undone: Undone[];
    };
    expect(undone).to.have.length(1);
    expect(await send('/api/notify/mute', 200, { duration: '1h' })).to.include({ muted: true });
    await send('/api/notify/mute', 400, { duration: 'soon' });
    expect(await send('/api/notify/unmute', 200, {})).to.deep.equal({ muted: false, was: true });
    const { voice, history } = JSON.parse(
      (await visit(daemon, 'GET /api/notify', 200, { headers: page })).text,
    ) as NotifyReport;
    expect(voice).to.equal('off');
    expect(history.map(({ text }) => text)).to.include('Done');
    const pushed = history.find(({ event }) => event === 'error');
    expect(await send('/api/notify/retry', 200, { id: pushed?.id }))
      .to.have.property('channels')
      .that.includes('push');
    const sent = { ...pushed, id: '20261120T080000123Z-aaaaaaaaaaaa' };
    const notifyLog = area('observability', 'notify.jsonl');
    appendFileSync(
      notifyLog,
      `${JSON.stringify({ ...sent, channels: [] })}
`,
    );
    await send('/api/notify/retry', 409, { id: sent.id });
    await send('/api/notify/retry', 404, { id: '20261120T080000123Z-0123456789ab' });
    await send('/api/notify/retry', 400, { id: '../x' });
    await visit(daemon, 'POST /api/restart', 200, { socket: socket() });
    await until('it to listen again', async () => {
      const { pid } = jsonOf(await steward(['daemon', 'status', '--json'], { home: home.path })) as {
        pid?: number;
      };
      return pid !== undefined && pid !== daemon.pid;
    });
    writeFileSync(area('sense', 'config.json'), '{');
    await visit(daemon, 'GET /api/sense/today', 500);
    await visit(daemon, 'POST /api/stop', 200, { socket: socket() });
    expect(await daemon.ended).to.equal(0);
  });

  it('says how the browser extension is answered', async () => {
    await steward(['config', 'set', 'daemon.requireToken', 'true'], { home: home.path });
    const daemon = await start();
    const pair = async (): Promise<string> => {
      const paired = jsonOf(await steward(['sense', 'web', 'pair', '--json'], { home: home.path })) as {
        code: string;
      };
      const [, port, token = ''] = /^(\d+)-(.+)$/.exec(paired.code) ?? [];
      expect(port).to.equal(String(daemon.port));
      return token;
    };
    const send = (token: string, status: number): Promise<Reply> => {
      const [at, until] = [Date.now() - 60_000, Date.now()];
      const body = { site: 'github.com', at, until };
      expect(api.bodyFaults('POST /api/sense/web', body)).to.deep.equal(NONE);
      const headers = { ...EXTENSION, authorization: `Bearer ${token}` };
      return visit(daemon, 'POST /api/sense/web', status, { headers, body: JSON.stringify(body) });
    };
    const first = await pair();
    const headers = { ...EXTENSION, authorization: `Bearer ${first}` };
    await visit(daemon, 'POST /api/sense/web', 400, { headers, body: '{' });
    const { text } = await send(first, 409);
    expect(text).to.include('steward up');
    const status = () => steward(['sense', 'web', 'status', '--json'], { home: home.path });
    expect(jsonOf(await status())).to.include({ state: 'off', port: daemon.port, lastEventTs: null });
    const captured = jsonOf(await steward(['sense', 'capture', '--json'], { home: home.path }));
    expect((captured as { sources: unknown[] }).sources.at(-1)).to.include({ id: 'web', events: 0 });
    await send(first, 202);
    const { lastEventTs } = jsonOf(await status()) as { lastEventTs: string };
    expect(Date.now() - Date.parse(lastEventTs), 'stored when it arrives').to.be.lessThan(120_000);
    const second = await pair();
    await send(first, 401);
    await send(second, 202);
    expect(jsonOf(await status())).to.deep.include({ paired: ['chromium'], enabled: true });
    for (const key of ['sense.sources.web', 'sense.enabled']) {
      await steward(['config', 'set', key, 'false'], { home: home.path });
      const wanted = `steward config set ${key} true`;
      expect((await send(second, 409)).text).to.include(wanted);
      expect((jsonOf(await status()) as { reason: string }).reason).to.include(wanted);
    }
    const folder = join(machineFolder(home.path), 'extension');
    await steward(['sense', 'web', 'install'], { home: home.path });
    expect(readFileSync(join(folder, 'worker.js'), 'utf8')).to.equal(
      readFileSync('extension/worker.js', 'utf8'),
    );
    const uninstall = await steward(['uninstall', '--dry-run'], { home: home.path });
    expect(uninstall.stdout).to.include('Remove the extension from the browser too');
    const removed = jsonOf(await steward(['sense', 'web', 'remove', '--json'], { home: home.path }));
    expect(removed).to.deep.equal({ removed: [folder, join(machineFolder(home.path), 'web.json')] });
    await send(second, 401);
    // A daemon that was killed leaves its port behind.
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.ended;
    await steward(['config', 'set', 'daemon.port', '31999'], { home: home.path });
    const again = jsonOf(await steward(['sense', 'web', 'install', '--json'], { home: home.path }));
    expect((again as { code: string }).code).to.match(/^31999-/);
  });

  it('says how a daemon with a token lets in', async () => {
    await steward(['config', 'set', 'daemon.requireToken', 'true'], { home: home.path });
    const daemon = await start();
    for (const [
      name,
      { 'x-local-only': isLocal, 'x-extension-only': isOfExtension, security },
    ] of api.operations) {
      if (isLocal === true || isOfExtension === true) continue;
      const at = name.includes('{') ? { at: '/assets/page.js' } : {};
      if (security?.length !== 0) await visit(daemon, name, 401);
      else if (name.startsWith('GET')) await visit(daemon, name, 200, at);
    }
    await visit(daemon, 'GET /assets/{name}', 401, { at: '/assets/none.js' });
    const opened = await visit(daemon, 'POST /api/open', 200, { socket: socket() });
    const { hash } = new URL((JSON.parse(opened.text) as { url: string }).url);
    const code = hash.slice('#code='.length);
    expect(api.bodyFaults('POST /api/sign-in', { code })).to.deep.equal(NONE);
    const body = JSON.stringify({ code });
    const { text } = await visit(daemon, 'POST /api/sign-in', 200, { body });
    const { secret } = JSON.parse(text) as { secret: string };
    await visit(daemon, 'GET /api/status', 200, { headers: { authorization: `Bearer ${secret}` } });
    await visit(daemon, 'POST /api/sign-in', 401, { body });
    const token = readFileSync(join(machineFolder(home.path), 'daemon.token'), 'utf8').trim();
    await visit(daemon, 'GET /healthz', 200, { headers: { authorization: `Bearer ${token}` } });
  });
});
