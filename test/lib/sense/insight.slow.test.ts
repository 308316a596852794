import { expect } from 'chai';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { isAlive, withLock } from '../../../src/lib/platform/files/lock';
import { run } from '../../../src/lib/platform/process/process';
import { withTempFolder } from '../../../src/lib/platform/files/system-files';
import {
  buildInsight,
  previewInsight,
  type BuildDeps,
  type InsightOutcome,
} from '../../../src/lib/sense/insight';
import { defaultConfig } from '../../../src/lib/config/load';
import { latestInsight, type Insight, insightStore } from '../../../src/lib/sense/insight-reads';
import { purge } from '../../../src/lib/sense/purge';
import { GOOD_REPLY, playAssistant, type AssistantMode, type PlayedAssistant } from '../../helpers/assistant';
import { rejection } from '../../helpers/errors';
import { commit, focus, senseBox, type SenseBox } from '../../helpers/sense';
import { until } from '../../helpers/desktop-kit';

const DAY = '2026-11-20';
const FILE = `sense/insights/${DAY}.json`;

describe('sense: the insight', function () {
  this.timeout(60_000);
  let box: SenseBox;
  let assistant: PlayedAssistant;
  let deps: BuildDeps & { store: SenseBox['store'] };

  beforeEach(() => {
    box = senseBox('2026-11-20T12:00:00Z');
    assistant = playAssistant(join(box.home, 'assistant'));
    const locked = (name: string, waitMs: number) => {
      const options = { clock: box.deps.clock, machineId: '0123456789ab', waitMs };
      return <T>(work: () => T | Promise<T>) =>
        withLock(join(box.area.machine, name), options, async () => work());
    };
    deps = {
      ...box.deps,
      insights: insightStore(box.area.sense.insights),
      config: { enabled: true, exclude: [], insight: { command: assistant.command('reply') } },
      sessions: () => new Map([['id-1', { slug: 'fix-login' }]]),
      run,
      env: { PATH: process.env['PATH'], HOME: box.home },
      inEmptyFolder: withTempFolder,
      alone: locked('insight.lock', 0),
      locked: locked('sense.lock', 20_000),
    };
    see(focus('2026-11-20T08:02:00Z', 'Ghostty'), commit('2026-11-20T09:30:00Z', 'app', 'a1'));
  });
  afterEach(() => box.remove());

  function see(...events: object[]): void {
    box.store.prepare();
    appendFileSync(box.store.logOf(DAY), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
  const play = (mode: AssistantMode, more: Partial<BuildDeps> = {}, force = false): Promise<InsightOutcome> =>
    buildInsight(
      { ...deps, config: { ...deps.config, insight: { command: assistant.command(mode) } }, ...more },
      { force },
    );
  const latest = (): Insight => latestInsight(deps);
  const stored = (): { read: { narrative: string } | null; failed: { reason: string } | null } =>
    JSON.parse(box.read(FILE)) as ReturnType<typeof stored>;

  it('stores the answer of the assistant', async () => {
    const outcome = await play('reply');
    const read = {
      ...(JSON.parse(GOOD_REPLY) as object),
      model: null,
      since: '2026-11-20T08:02:00.000Z',
      until: '2026-11-20T09:30:00.000Z',
      events: 2,
      generatedAt: '2026-11-20T12:00:00.000Z',
    };
    expect(outcome).to.deep.equal({ status: 'built', date: DAY, read });
    expect(JSON.parse(box.read(FILE))).to.deep.equal({ version: 1, date: DAY, read, failed: null });
    expect(latest()).to.deep.equal({
      available: true,
      stale: false,
      date: DAY,
      ...(JSON.parse(GOOD_REPLY) as object),
      since: read.since,
      generatedAt: read.generatedAt,
      model: null,
    });
  });

  it('sends what the preview shows on stdin, in an empty folder, without keys', async () => {
    see({
      ts: '2026-11-20T10:00:00Z',
      type: 'agent-session',
      source: 'agentSession',
      detail: { session: 'id-1' },
    });
    const env = {
      ...deps.env,
      ANTHROPIC_API_KEY: 'k1',
      ANTHROPIC_AUTH_TOKEN: 'k2',
      Other_Api_Key: 'k3',
      CLAUDE_CODE_OAUTH_TOKEN: 'login',
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      KEEP: 'me',
    };
    const preview = await previewInsight(deps);
    expect(assistant.calls(), 'a preview sends nothing').to.deep.equal([]);
    expect(preview).to.include({ skipped: null, date: DAY });
    await play('reply', { env });
    const [call, ...more] = assistant.calls();
    if (call === undefined) throw new Error('it was not called');
    expect(more, 'one call').to.deep.equal([]);
    expect(call.stdin).to.equal(preview.prompt);
    expect(call.stdin).to.include('"fix-login"').and.include('"Ghostty"').and.include('"Commit a1"');
    expect([process.execPath, join(box.home, 'assistant', 'assistant.cjs'), ...call.argv]).to.deep.equal(
      preview.command,
    );
    expect(call.files).to.deep.equal([]);
    expect(existsSync(call.cwd), 'the folder is removed').to.equal(false);
    expect(call.cwd).not.to.include(box.home);
    expect(call.env).to.include({ KEEP: 'me', CLAUDE_CODE_OAUTH_TOKEN: 'login', STEWARD_INTERNAL: '1', CLAUDE_CODE_SAFE_MODE: '1' }); // prettier-ignore
    expect(Object.values(call.env)).not.to.include.members(['k1']);
    expect(
      Object.keys(call.env).filter((name) => /_key|_auth_token|claudecode|entrypoint/i.test(name)),
    ).to.deep.equal([]);
  });

  it('calls Claude Code by default', async () => {
    const { command } = await previewInsight({
      ...deps,
      config: { ...deps.config, insight: defaultConfig(box.area).sense.insight },
    });
    expect(command.slice(0, 2)).to.deep.equal(['claude', '--print']);
    expect(command.join(' ')).to.include('--model haiku --tools  --setting-sources  --strict-mcp-config --no-session-persistence'); // prettier-ignore
    expect(command).not.to.include('--bare');
  });

  it('is skipped without new events, unless forced', async () => {
    await play('reply');
    const idle = { status: 'skipped', date: DAY, reason: 'no new events since the last insight' };
    expect(await play('reply')).to.deep.equal(idle);
    expect((await previewInsight(deps)).skipped).to.equal(idle.reason);
    expect(assistant.calls()).to.have.length(1);
    expect(await play('reply', {}, true)).to.include({ status: 'built' });
    see(focus('2026-11-20T11:00:00Z', 'Firefox'));
    expect(await play('reply')).to.include({ status: 'built' });
    expect(await play('reply')).to.deep.equal(idle);
    see(commit('2026-11-20T08:30:00Z', 'app', 'late'));
    expect(await play('reply'), 'one that came late is news').to.include({ status: 'built' });
    expect(assistant.calls()).to.have.length(4);
  });

  it('is skipped without events, or when sense is disabled', async () => {
    rmSync(box.store.logOf(DAY));
    expect(await play('reply', {}, true)).to.include({
      status: 'skipped',
      reason: 'nothing was captured today',
    });
    expect(await previewInsight(deps)).to.include({
      prompt: null,
      skipped: 'nothing was captured today',
    });
    see(focus('2026-11-20T08:02:00Z', 'Solitaire'));
    const excluded = { ...deps.config, exclude: ['solitaire'] };
    expect(await buildInsight({ ...deps, config: excluded }, { force: true })).to.include({
      status: 'skipped',
    });
    const off = { ...deps.config, enabled: false };
    expect(await buildInsight({ ...deps, config: off }, { force: true })).to.include({ status: 'skipped', reason: 'sense.enabled is false' }); // prettier-ignore
    expect(assistant.calls()).to.deep.equal([]);
    expect(existsSync(box.area.sense.insights)).to.equal(false);
  });

  const FAILURES: [what: string, mode: AssistantMode, answer: string, reason: RegExp][] = [
    [
      'garbage',
      'reply',
      'As an assistant, I think \u001b[31mhighly\u001b[0m of it.',
      /^the reply was not a JSON object$/,
    ],
    ['an empty reply', 'reply', '', /^the reply was empty$/],
    ['no content types', 'reply', '{"narrative":"n","contentTypes":[]}', /lists no content types/],
    [
      'a negative share',
      'reply',
      '{"narrative":"n","contentTypes":[{"label":"a","share":-1}]}',
      /contentTypes\.0\.share/,
    ],
    ['a reply without end', 'flood', '', /printed more than 262144 bytes and was stopped$/],
    ['exit code 1, whatever it wrote', 'fail', GOOD_REPLY, /exited with code 1: no such model$/],
    ['a kill', 'killed', '', /was killed by SIGKILL$/],
    ['no login', 'refuse', '', /^the assistant failed: Not logged in · Please run \/login$/],
  ];
  for (const [what, mode, answer, reason] of FAILURES) {
    it(`fails on ${what}, and keeps the last insight`, async () => {
      assistant.answer(answer);
      const failed = await play(mode);
      expect(failed).to.include({ status: 'failed', date: DAY });
      expect('reason' in failed ? failed.reason : '').to.match(reason);
      expect(latest()).to.deep.include({
        available: false,
        stale: false,
        date: DAY,
        narrative: null,
        contentTypes: [],
      });
      expect(latest().reason).to.match(reason);

      assistant.answer(GOOD_REPLY);
      await play('reply');
      const good = latest();
      expect(good).to.include({ available: true }).and.not.to.have.property('reason');
      box.at('2026-11-20T13:00:00Z');
      assistant.answer(answer);
      await play(mode, {}, true);
      expect(latest()).to.deep.equal({ ...good, reason: stored().failed?.reason });
      expect(latest().reason).to.match(reason);
    });
  }

  it('accepts a code fence, per cent, and a program that does not read stdin', async () => {
    const answer =
      '{"narrative":"Ünïcode 漢字 \\u001b[2J🙂","contentTypes":[{"label":"a","share":70},{"label":"b","share":30}]}';
    assistant.answer(`\`\`\`json\n${answer}\n\`\`\``);
    const outcome = await play('deaf');
    expect(outcome).to.include({ status: 'built' });
    expect(latest()).to.deep.include({
      narrative: 'Ünïcode 漢字 🙂',
      contentTypes: [{ label: 'a', share: 0.7, evidence: '' }, { label: 'b', share: 0.3, evidence: '' }],
    }); // prettier-ignore
  });

  it('times out, and kills the process', async () => {
    const outcome = await play('slow', { timeoutMs: 5000 });
    expect('reason' in outcome ? outcome.reason : '').to.match(/did not respond within 5 s$/);
    const pids = JSON.parse(readFileSync(assistant.file('pids'), 'utf8')) as number[];
    expect(pids).to.have.length(2);
    await until('they are gone', () => pids.every((pid) => !isAlive(pid)));
    expect(existsSync(assistant.calls()[0]?.cwd ?? '/')).to.equal(false);
  });

  it('reports a program that is missing or cannot start', async () => {
    const use = (...command: string[]): BuildDeps => ({
      ...deps,
      config: { ...deps.config, insight: { command } },
    });
    const missing = await buildInsight(use('steward-no-such-program'), { force: false });
    expect(missing).to.deep.equal({
      status: 'failed',
      date: DAY,
      reason: 'steward-no-such-program is not installed or not on the PATH',
      hint: 'Install steward-no-such-program, or add its folder to PATH. To use another program, run "steward config set sense.insight.command PROGRAM".',
    });
    expect(latest()).to.include({
      available: false,
      reason: missing.status === 'failed' ? missing.reason : '',
    });
    const plain = assistant.file('plain');
    writeFileSync(plain, 'no program');
    chmodSync(plain, 0o644);
    const refused = await buildInsight(use(plain), { force: false });
    expect('reason' in refused ? refused.reason : '').to.match(/plain could not be started/);
    for (const call of [
      () => buildInsight(use('./tool'), { force: false }),
      () => previewInsight(use('bin/tool')),
    ]) {
      expect(await rejection(call())).to.include({ kind: 'config' });
    }
  });

  it('runs one at a time', async () => {
    const first = play('wait');
    await until('the first has begun', () => existsSync(assistant.file('started')));
    expect(await rejection(play('reply'))).to.include({ kind: 'locked' });
    expect(await deps.locked(() => 'free'), 'a capture does not wait for it').to.equal('free');
    writeFileSync(assistant.file('go'), '');
    expect(await first).to.include({ status: 'built' });
    expect(assistant.calls()).to.have.length(1);
  });

  it('belongs to the day of its events when midnight passes meanwhile', async () => {
    box.at('2026-11-20T23:59:50Z');
    const building = play('wait');
    await until('it has begun', () => existsSync(assistant.file('started')));
    box.at('2026-11-21T00:00:10Z');
    writeFileSync(assistant.file('go'), '');
    expect(await building).to.include({ status: 'built', date: DAY });
    expect(box.store.insightDays()).to.deep.equal([DAY]);
    expect(latest()).to.include({
      available: true,
      stale: true,
      date: DAY,
      generatedAt: '2026-11-21T00:00:10.000Z',
    });
  });

  it('does not bring back what was purged meanwhile', async () => {
    const building = play('wait');
    await until('it has begun', () => existsSync(assistant.file('started')));
    purge(box.deps, { app: 'ghostty' }, false);
    see(focus('2026-11-20T11:00:00Z', 'Firefox'));
    writeFileSync(assistant.file('go'), '');
    expect(await building).to.include({
      status: 'skipped',
      reason: 'the events were purged during the build',
    });
    expect(latest()).to.include({ available: false, reason: 'no insight has been built yet' });
  });

  describe('the latest', () => {
    it('is of an earlier day, as stale, without one of today', async () => {
      expect(latest()).to.include({ available: false, stale: false, date: DAY, reason: 'no insight has been built yet' });
      await play('reply');
      box.at('2026-11-23T09:00:00Z');
      expect(latest()).to.include({ available: true, stale: true, date: DAY }).and.not.to.have.property('reason');
      box.write('sense/insights/2026-11-23.json', JSON.stringify({ version: 1, read: null, failed: { at: '2026-11-23T08:00:00Z', reason: 'exit' } }));
      expect(latest(), 'a failure of today hides no good read').to.include({ available: true, stale: true, date: DAY, reason: 'exit' });
      box.at('2026-11-19T09:00:00Z');
      expect(latest(), 'a read of a day to come is not shown').to.include({ available: false, date: '2026-11-19' });
    }); // prettier-ignore

    it('ignores damaged files, and does not change one of a newer version', async () => {
      for (const text of ['', '{', 'null', '{"version":1}', '{"version":1,"read":{"narrative":"n","contentTypes":[]}}', '{"version":1,"read":{"narrative":"n","contentTypes":[{"label":"a"}],"events":1}}']) {
        box.write(FILE, text);
        expect(latest(), text).to.include({ available: false });
      }
      expect(await play('reply')).to.include({ status: 'built' });
      const newer = box.read(FILE).replace('"version": 1', '"version": 2');
      box.write(FILE, newer);
      expect(latest()).to.include({ available: false });
      expect(latest().reason).to.match(/newer steward/);
      expect(await rejection(play('reply', {}, true))).to.include({ kind: 'config' });
      expect(box.read(FILE)).to.equal(newer);
      expect(assistant.calls()).to.have.length(1);
    }); // prettier-ignore

    it('writes and starts nothing', () => {
      const before = readdirSync(box.home, { recursive: true });
      latest();
      expect(readdirSync(box.home, { recursive: true })).to.deep.equal(before);
    });
  });
});
