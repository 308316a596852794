import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { isAlive } from '../../src/lib/platform/files/lock';
import type { InsightOutcome, InsightPreview } from '../../src/lib/sense/insight';
import type { Insight } from '../../src/lib/sense/insight-reads';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import { GOOD_REPLY, playAssistant, type PlayedAssistant } from '../helpers/assistant';
import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { gitBox } from '../helpers/git';
import { hookJson } from '../helpers/hooks';
import { focus } from '../helpers/sense';

describe('sense insight (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let assistant: PlayedAssistant;
  beforeEach(() => {
    home = emptyHome();
    assistant = playAssistant(join(home.path, 'assistant'));
  });
  afterEach(() => home.remove());

  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const put = (name: string, text: string): void => {
    mkdirSync(join(area(name), '..'), { recursive: true, mode: 0o700 });
    writeFileSync(area(name), text, { mode: 0o600 });
  };
  /** The program that plays Claude Code stands on the PATH, before a real one. */
  const withAssistant = (more = ''): Record<string, string> => ({
    PATH: `${assistant.install('claude', more)}${delimiter}${process.env['PATH'] ?? ''}`,
  });
  const run = (args: string, env: Record<string, string> = {}): Promise<StewardResult> =>
    steward(args.split(' '), { home: home.path, env });
  const seen = (): void => {
    const ts = new Date().toISOString();
    put(`sense/events/${ts.slice(0, 10)}.jsonl`, `${JSON.stringify(focus(ts, 'Ghostty'))}\n`);
  };

  it('names no restricted work', async () => {
    const box = gitBox();
    try {
      const [shop, vault] = [box.init('shop'), box.init('vault')];
      box.commit(shop, { at: Math.floor(Date.now() / 1000), subject: 'Fix the login' });
      box.commit(vault, { at: Math.floor(Date.now() / 1000), subject: 'Prepare the merger' });
      for (const repo of [shop, vault]) await run(`config add sense.repos ${repo}`);
      const start = (cwd: string, session_id: string) =>
        steward(['hook', 'session-start'], {
          home: home.path,
          input: hookJson('session-start', { cwd, session_id }),
        });
      await start(shop, 'open');
      const customer = join(home.path, 'customer');
      mkdirSync(customer);
      writeFileSync(join(customer, 'RESTRICTED.md'), '');
      await start(customer, 'moves');
      await start(shop, 'moves');
      writeFileSync(join(vault, 'RESTRICTED.md'), '');
      await start(vault, 'in-vault');
      expect((await run('sense capture')).code).to.equal(0);
      const summary = async (): Promise<{ commits: string[]; sessions: string[] }> => {
        const { prompt } = jsonOf(await run('sense insight build --dry-run --json')) as InsightPreview;
        return JSON.parse(prompt?.slice(prompt.lastIndexOf('\n\n')) ?? '') as Awaited<
          ReturnType<typeof summary>
        >;
      };
      const { commits, sessions } = await summary();
      expect(commits).to.deep.equal(['Fix the login']);
      expect(sessions.filter((slug) => !slug.startsWith('restricted-')).map((slug) => slug.split('-')[1])).to.deep.equal(['shop']); // prettier-ignore
      expect(JSON.stringify(sessions)).to.not.match(/vault|customer/);
    } finally {
      box.remove();
    }
  });

  it('previews, sends once, shows the insight, and skips an idle hour', async () => {
    seen();
    const env = { ...withAssistant(), ANTHROPIC_API_KEY: 'secret-key' };
    expect(jsonOf(await run('sense insight --json', env))).to.include({ available: false });
    const preview = await run('sense insight build --dry-run', env);
    expect(preview.code).to.equal(0);
    expect(preview.stderr).to.match(
      /^Nothing was sent\. A build would send this text to:\n {2}claude --print --model haiku /,
    );
    expect(assistant.calls(), 'nothing was sent').to.deep.equal([]);

    const built = await run('sense insight build', env);
    expect(built).to.include({ code: 0, stderr: '' });
    expect(built.stdout).to.match(
      /Programming with a terminal beside it[^]*programming +75 % +█+\n[^]*reading +25 % +█+/,
    );
    expect(assistant.calls()).to.have.length(1);
    expect(assistant.calls()[0]?.stdin).to.equal(preview.stdout);
    const { command } = jsonOf(await run('sense insight build --dry-run --json', env)) as InsightPreview;
    expect(['claude', ...(assistant.calls()[0]?.argv ?? [])]).to.deep.equal(command);
    expect(JSON.stringify(assistant.calls())).not.to.include('secret-key');

    expect((await run('sense insight build', env)).stdout).to.match(/Nothing was sent: no new events since/);
    const forced = jsonOf(await run('sense insight build --force --json', env)) as InsightOutcome;
    expect(forced.status).to.equal('built');
    expect(jsonOf(await run('sense insight --json', env)) as Insight).to.deep.include({
      available: true,
      stale: false,
      ...(JSON.parse(GOOD_REPLY) as object),
    });
  });

  it('is not recorded as a session by the hooks', async () => {
    seen();
    const calls = (['session-start', 'prompt', 'session-end'] as const).map((verb) => {
      const args = JSON.stringify([BIN, 'hook', verb]);
      const options = JSON.stringify({ input: hookJson(verb), stdio: ['pipe', 'inherit', 'inherit'] });
      return `require('node:child_process').spawnSync(process.execPath, ${args}, ${options});`;
    });
    expect(await run('sense insight build', withAssistant(calls.join('\n')))).to.include({ code: 0 });
    expect(assistant.calls()).to.have.length(1);
    expect(existsSync(area('state', 'work-events.jsonl'))).to.equal(false);
    expect(existsSync(area('observability', 'hooks.jsonl'))).to.equal(false);
    const { sessions } = jsonOf(await run('sessions --all --json')) as SessionsReport;
    expect(sessions).to.deep.equal([]);
    const capture = jsonOf(await run('sense capture --json')) as {
      sources: { id: string; events: number }[];
    };
    expect(capture.sources.find(({ id }) => id === 'agentSession')).to.include({ events: 0 });
  });

  it('names sessions by their slug', async () => {
    const at = { session_id: 'secret-session-id', cwd: home.path };
    for (const verb of ['session-start', 'prompt'] as const) {
      await steward(['hook', verb], { home: home.path, input: hookJson(verb, at) });
    }
    await run('sense capture');
    const { sessions } = jsonOf(await run('sessions --json')) as SessionsReport;
    const { prompt } = jsonOf(await run('sense insight build --dry-run --json')) as InsightPreview;
    expect(sessions).to.have.length(1);
    expect(prompt).to.include(`"${sessions[0]?.slug}"`).and.not.include('secret-session-id');
  });

  it('is the only command that asks a model (slow)', async () => {
    seen();
    const env = withAssistant();
    const commands = ['capture', 'today', 'status', 'sources', 'recent', 'rollup', 'version', 'insight'];
    for (const words of [...commands, 'insight build --dry-run', 'export'])
      expect(await run(`sense ${words}`, env), words).to.include({ code: 0 });
    const daemon = await startDaemon({ home: home.path, env });
    try {
      for (const path of [
        'sense',
        ...['today', 'recent', 'sources', 'insight', 'status'].map((name) => `api/sense/${name}`),
      ])
        expect((await fetch(`${daemon.url}/${path}`)).status, path).to.equal(200);
    } finally {
      await daemon.stop();
    }
    expect(assistant.calls()).to.deep.equal([]);
    expect(await run('sense insight build', env)).to.include({ code: 0 });
    expect(assistant.calls()).to.have.length(1);
  });

  it('reports failures by exit code', async () => {
    seen();
    put('sense/config.json', JSON.stringify({ insight: { command: ['no-such-program'] } }));
    const failed = await run('sense insight build --json');
    expect(failed).to.include({ code: 8, stdout: '' });
    expect(JSON.parse(failed.stderr)).to.deep.equal({
      error: {
        kind: 'unavailable',
        message: 'No insight was built: no-such-program is not installed or not on the PATH.',
        hint: 'Install no-such-program, or add its folder to PATH. To use another program, run "steward config set sense.insight.command PROGRAM".',
      },
    });
    expect(jsonOf(await run('sense insight --json'))).to.include({ available: false, reason: 'no-such-program is not installed or not on the PATH' }); // prettier-ignore
    put('sense/config.json', JSON.stringify({ insight: { command: ['./tool'] } }));
    expect(await run('sense insight build --dry-run')).to.include({ code: 3, stdout: '' });
    put('sense/config.json', JSON.stringify({ insight: { command: 'claude' } }));
    for (const args of ['sense insight', 'sense insight build', 'sense insight build --dry-run']) {
      expect(await run(args), args).to.include({ code: 3, stdout: '' });
    }
    expect(await run('sense insight build --hard')).to.include({ code: 2, stdout: '' });
    expect(await run('sense insight build --dry-run now')).to.include({ code: 2, stdout: '' });
  });

  it('stops the assistant with Ctrl-C (slow)', async () => {
    seen();
    put('sense/config.json', JSON.stringify({ insight: { command: assistant.command('slow') } }));
    const child = spawn(process.execPath, [BIN, 'sense', 'insight', 'build'], {
      env: cleanEnv(home.path),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await until('the assistant runs', () => existsSync(assistant.file('pids')), 30_000);
    child.kill('SIGINT');
    expect(await ended).to.deep.equal([130, null]);
    const pids = JSON.parse(readFileSync(assistant.file('pids'), 'utf8')) as number[];
    await until('it is gone', () => pids.every((pid) => !isAlive(pid)), 30_000);
    put('sense/config.json', JSON.stringify({ insight: { command: assistant.command('reply') } }));
    expect(await run('sense insight build')).to.include({ code: 0 });
  });
});
