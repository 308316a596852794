import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { ASSISTANTS } from '../../src/lib/assistant';
import type { Report } from '../../src/lib/report/model';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import { PAYLOADS, PLAYED_ID, SETTINGS } from '../contracts/assistant-payloads';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { RESPONDED } from '../helpers/doctor';

describe('six assistants (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  const run = async (...args: string[]) => {
    const result = await steward(args, { home: home.path });
    expect(result.code, result.stderr).to.equal(0);
    return result;
  };
  const pathOf = (id: string): string => {
    const host = { platform: process.platform, env: cleanEnv(home.path), home: home.path };
    return ASSISTANTS.find((assistant) => assistant.id === id)?.path(host) ?? '';
  };

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    home = emptyHome();
    for (const { id } of ASSISTANTS) {
      const text = SETTINGS[id];
      if (text === undefined) continue;
      mkdirSync(dirname(pathOf(id)), { recursive: true });
      writeFileSync(pathOf(id), text);
    }
  });
  afterEach(() => home.remove());

  const hook = (verb: string, id: string, payload: object) => {
    const shim = join(home.path, '.steward', 'bin', 'steward-hook');
    const args = id === 'claude-code' ? [verb] : [verb, id];
    const options = { env: cleanEnv(home.path), input: JSON.stringify(payload), encoding: 'utf8' as const };
    const { status, stderr } = spawnSync(shim, args, options);
    expect([status, stderr], `${id} ${verb}`).to.deep.equal([0, '']);
  };

  it('are installed and uninstalled together, and a mixed day has the sessions of each', async () => {
    await run('sense', 'init');
    const installed = jsonOf(await run('hooks', 'install', '--assistant', 'all', '--json')) as {
      hooks: { assistant: string }[];
    };
    expect(installed.hooks.map(({ assistant }) => assistant)).to.deep.equal(ASSISTANTS.map(({ id }) => id));
    const status = (await run('hooks', 'status')).stdout;
    expect(status.match(/^Installed in /gm)).to.have.length(6);
    expect(status).to.include('not trusted yet: run /hooks in codex');

    for (const { id, hooks } of ASSISTANTS) {
      for (const { event, payload } of PAYLOADS[id].filter(({ records }) => records.type !== 'session-end'))
        hook(hooks.find((one) => one.event === event)?.verb ?? '', id, payload);
    }
    // Cursor runs the hooks of Claude Code too.
    const tool = PAYLOADS.cursor.find(({ event }) => event === 'preToolUse')?.payload ?? {};
    hook('tool', 'claude-code', tool);

    const { sessions } = jsonOf(await run('sessions', '--all', '--json')) as SessionsReport;
    expect(sessions.map(({ assistant }) => assistant).sort()).to.deep.equal(
      [...ASSISTANTS.map(({ id }) => id)].sort(),
    );
    for (const { sessionIds, waitingFor, status: state, assistant } of sessions)
      expect([sessionIds, waitingFor, state], assistant).to.deep.equal([[PLAYED_ID], null, 'waiting']);
    expect((await run('sessions', '--all')).stdout)
      .to.match(/ codex/)
      .and.to.match(/ cursor/);
    const log = readFileSync(join(home.path, '.steward', 'state', 'work-events.jsonl'), 'utf8');
    const events = ASSISTANTS.reduce((sum, { id }) => sum + PAYLOADS[id].length - 1, 0);
    expect(log.split('\n').filter((line) => line !== '')).to.have.length(events);
    const codex = async () => (await run('hooks', 'status', '--assistant', 'codex')).stdout;
    expect(await codex()).not.to.match(/not trusted|disabled/);
    const toml = join(dirname(pathOf('codex')), 'config.toml');
    writeFileSync(toml, '[features]\nhooks = false\n');
    expect(await codex()).to.include(`all hooks are disabled by hooks in ${toml}`);

    await run('sense', 'capture');
    const day = jsonOf(await run('sense', 'today', '--json')) as { sessions: { count: number } };
    expect(day.sessions.count).to.equal(6);
    const today = new Date().toISOString().slice(0, 10);
    const report = jsonOf(await run('standup', '--of', today, '--json')) as Report;
    expect(report.sessions.count).to.equal(6);

    expect((await run('hooks', 'uninstall')).stdout).to.match(/^Removed /);
    for (const { id } of ASSISTANTS) {
      const theirs = SETTINGS[id];
      if (theirs !== undefined) expect(readFileSync(pathOf(id), 'utf8'), id).to.equal(theirs);
      else expect(() => readFileSync(pathOf(id)), id).to.throw('ENOENT');
    }
    expect((await run('hooks', 'uninstall')).stdout).to.equal('Nothing is installed.\n');
  });

  it('are installed even if the settings of one cannot be read', async () => {
    writeFileSync(pathOf('codex'), '{');
    const installed = await steward(['hooks', 'install', '--assistant', 'all'], { home: home.path });
    expect(installed.code).to.equal(3);
    expect(installed.stderr).to.include(`${pathOf('codex')} is not JSON: line 1, column 2`);
    expect(installed.stdout.match(/^Added /gm)).to.have.length(5);
    const status = await steward(['hooks', 'status', '--assistant', 'all'], { home: home.path });
    expect(status.code).to.equal(3);
    expect(status.stderr).to.include(`${pathOf('codex')} is not JSON: line 1, column 2`);
    expect(status.stdout.match(/^Installed in /gm)).to.have.length(5);
    const json = await steward(['hooks', 'status', '--assistant', 'all', '--json'], { home: home.path });
    expect(json.code).to.equal(3);
    expect((JSON.parse(json.stdout) as { more: unknown[] }).more).to.have.length(4);
    const uninstalled = await steward(['hooks', 'uninstall', '--assistant', 'all'], { home: home.path });
    expect(uninstalled.code).to.equal(3);
    for (const id of ['claude-code', 'qwen', 'cursor'] as const)
      expect(readFileSync(pathOf(id), 'utf8'), id).to.equal(SETTINGS[id]);
    expect(readFileSync(pathOf('codex'), 'utf8')).to.equal('{');
  });

  it("keeps Codex's trust when its sessions are forgotten, until its hooks change", async () => {
    const install = () => run('hooks', 'install', '--assistant', 'codex');
    await install();
    const codex = async () => (await run('hooks', 'status', '--assistant', 'codex')).stdout;
    hook('session-start', 'codex', PAYLOADS.codex[0]?.payload ?? {});
    expect(await codex()).not.to.include('not trusted');
    await run('sessions', 'forget', '--yes');
    expect(await codex()).not.to.include('not trusted');
    await run('hooks', 'uninstall');
    await install();
    expect(await codex()).to.include('not trusted yet');
  });

  it('refuses parts that only Claude Code supports', async () => {
    for (const flag of ['--skill', '--statusline']) {
      const args = ['hooks', 'install', '--assistant', 'codex,opencode', flag];
      const refused = await steward(args, { home: home.path });
      expect([refused.code, refused.stdout]).to.deep.equal([2, '']);
      expect(refused.stderr).to.include(`${flag} works only with Claude Code.`);
    }
    expect((await run('hooks', 'install', '--assistant', 'all', '--skill')).stdout).to.include('work skill');
  });

  it('are checked even if the settings of one are damaged', async () => {
    await run('hooks', 'install', '--assistant', 'all');
    writeFileSync(pathOf('qwen'), '{');
    const doctor = await steward(['doctor', 'hooks', '--json'], { home: home.path });
    const { checks } = JSON.parse(doctor.stdout) as {
      checks: { id: string; state: string; found: string }[];
    };
    const found = (id: string): string[] =>
      checks.filter((check) => check.id === id).map(({ state, found: text }) => `${state} ${text}`);
    expect(checks.find(({ id }) => id === 'hooks.run')?.found).to.match(RESPONDED);
    expect(found('hooks.registered').filter((text) => text.startsWith('ok '))).to.have.length(4);
    expect(found('hooks.registered').join()).to.include(`${pathOf('qwen')} is not JSON`);
    const { parts } = jsonOf(await run('status', '--json')) as { parts: { id: string; found: string }[] };
    expect(parts.find(({ id }) => id === 'hooks')?.found)
      .to.match(/^registered with Claude Code, Codex CLI, .* · /)
      .and.to.include(`${pathOf('qwen')} is not JSON`);
  });

  it('are reported one by one if several fail, and a dry run mentions the script once', async () => {
    const dry = await run('hooks', 'install', '--assistant', 'all', '--dry-run');
    expect(dry.stdout.match(/^Would write /gm)).to.have.length(1);
    const installed = await run('hooks', 'install', '--assistant', 'all');
    expect(installed.stdout.match(/^steward records /gm)).to.have.length(1);
    const broken = ['codex', 'cursor'].map((id) => ({
      path: pathOf(id),
      text: readFileSync(pathOf(id), 'utf8'),
    }));
    for (const { path } of broken) writeFileSync(path, '{');
    for (const [verb, done] of [
      ['install', /^Hooks already installed in .*\.qwen/m],
      ['status', /^Installed in .*\.qwen/m],
      ['uninstall', /^Removed 12 hooks from .*\.qwen/m],
    ] as const) {
      const failed = await steward(['hooks', verb, '--assistant', 'all'], { home: home.path });
      expect(failed.code, verb).to.equal(3);
      expect(failed.stdout).to.match(done);
      for (const { path } of broken) expect(failed.stderr, verb).to.include(`${path} is not JSON`);
      expect(failed.stderr.match(/not removed/g)?.length, verb).to.equal(
        verb === 'uninstall' ? 2 : undefined,
      );
    }
    for (const { path, text } of broken) writeFileSync(path, text);
    const rest = await run('hooks', 'uninstall');
    expect(rest.stdout)
      .to.match(/^Removed 10 hooks from .*\.codex/m)
      .and.to.match(/^Removed .*steward-hook$/m);
    for (const { path } of broken)
      expect(readFileSync(path, 'utf8')).to.equal(SETTINGS[path.includes('codex') ? 'codex' : 'cursor']);
  });

  it('mentions other installed assistants, and refuses an unknown one', async () => {
    const first = await run('hooks', 'install');
    expect(first.stdout).to.include('Added 12 hooks to ').and.not.to.include('.codex');
    expect(first.stderr).to.match(/Also installed: Codex CLI, Qwen Code, Cursor/);
    const refused = await steward(['hooks', 'install', '--assistant', 'codex,nobody'], { home: home.path });
    expect([refused.code, refused.stdout]).to.deep.equal([2, '']);
    expect(refused.stderr).to.include('Unknown assistant "nobody".');
    await run('hooks', 'install', '--assistant', 'qwen,cursor');
    expect((await run('hooks', 'uninstall', '--assistant', 'cursor')).stdout).to.include(
      'Removed 9 hooks from ',
    );
    // The others need the script still.
    expect((await run('hooks', 'status', '--assistant', 'qwen')).stdout).to.match(/^Installed in /);
  });
});
