import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Row } from '../../src/lib/doctor/run';
import { sha256 } from '../../src/lib/platform/files/install-manifest';
import type { DailyRecord } from '../../src/lib/time/record';
import older from '../fixtures/older-home.json';
import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { RESPONDED } from '../helpers/doctor';
import { fakeCrontab, type FakeCrontab } from '../helpers/schedule';
import { machineFolder } from '../helpers/daemon';
import { snapshot } from '../helpers/scratch';

const RECORDED_ON = '2026-11-21';
const SLUG = '20261121-session-902b5fd9';
const MESSAGE = '20261121T204842871Z-04085b93f754';

describe('upgrading the home of an older steward (built)', function () {
  this.timeout(180_000);
  let home: { path: string; remove: () => void };
  let crontab: FakeCrontab;
  let found: Record<string, string>;
  /** It was left yesterday, whenever this runs: retentions are another matter. */
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const ofYesterday = (text: string): string =>
    text
      .replaceAll(RECORDED_ON, yesterday)
      .replaceAll(RECORDED_ON.replaceAll('-', ''), yesterday.replaceAll('-', ''));

  before(() => {
    home = emptyHome();
    crontab = fakeCrontab(join(home.path, 'fake'));
    put('.claude/settings.json', '{"model":"x"}\n');
    found = files();
    const places: Record<string, string> = {
      '@MACHINE@': machineFolder(home.path),
      '@HOME@': home.path,
      '@STEWARD@': BIN,
      '@NODE@': process.execPath,
      '@PATH@': crontab.path,
    };
    const texts = Object.entries(older.files as Record<string, string>).map(
      ([name, text]): [string, string] => [
        ofYesterday(name),
        Object.entries(places).reduce((all, [mark, place]) => all.replaceAll(mark, place), ofYesterday(text)),
      ],
    );
    for (const [name, text] of texts) put(name === 'crontab' ? 'fake/table' : name, text);
    rehash(join(home.path, '.steward', 'state', 'install-manifest.json'));
  });
  after(() => home.remove());

  function put(name: string, text: string): void {
    const path = join(home.path, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: name.includes('/bin/') ? 0o700 : 0o600 });
  }

  /** The hashes in the manifest are those of the files with the paths of this home in them. */
  function rehash(path: string): void {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as {
      entries: { path: string; after: string | null }[];
    };
    for (const entry of manifest.entries)
      if (entry.after !== null) entry.after = sha256(readFileSync(entry.path));
    writeFileSync(path, JSON.stringify(manifest));
  }

  /** But for what is kept anew beside it. */
  const files = () => snapshot(home.path, ['fake', '.cache', '.local/state', '.steward']);
  const env = () => ({ PATH: crontab.path, SHELL: '/bin/bash' });
  const cli = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path, env: env() });
  async function json<T>(...args: string[]): Promise<T> {
    const result = await cli(...args, '--json');
    expect(result.stderr, args.join(' ')).to.equal('');
    return jsonOf(result) as T;
  }
  function sh(script: string, args: string[], input = ''): number | null {
    return spawnSync('sh', [join(home.path, '.steward', 'bin', script), ...args], {
      env: cleanEnv(home.path, env()),
      input,
    }).status;
  }

  it('reads its days, sessions, notifications and settings', async () => {
    expect(await json<object>('sense', 'recent')).to.have.length(1);
    const { commits, sessions, final } = await json<DailyRecord>('sense', 'rollup', yesterday);
    expect({ commits, sessions: sessions.count, final }).to.deep.equal({
      commits: { count: 1, repos: [{ repo: 'repo', commits: 1 }] },
      sessions: 0,
      final: true,
    });
    expect(await json<object>('sessions', 'show', ofYesterday(SLUG))).to.deep.include({ phase: 'native' });
    const told = await json<{ id: string; text: string }[]>('notify', 'history');
    expect(told.map(({ id, text }) => ({ id, text }))).to.deep.equal([
      { id: ofYesterday(MESSAGE), text: 'hello there' },
    ]);
    expect((await cli('config', 'show')).stdout).to.match(/principal\.name +config\.yaml +Ann/);
  });

  it('reports the steps to repeat, with their commands', async () => {
    const { checks } = await json<{ checks: Row[] }>('doctor', 'area', 'config', 'hooks', 'jobs', 'shell');
    const states = Object.fromEntries(checks.map(({ id, state }) => [id, state]));
    expect(states).to.include({
      'area.formats': 'ok',
      'area.logs': 'ok',
      'config.files': 'ok',
      // This version registers one more hook.
      'hooks.registered': 'warning',
      'hooks.sessions': 'ok',
    });
    expect(checks.find(({ id }) => id === 'hooks.run')?.found).to.match(RESPONDED);
    expect(checks.find(({ id }) => id === 'shell.completion')).to.include({
      state: 'warning',
      fix: 'steward install completion --shell bash',
    });
    expect(checks.find(({ id }) => id === 'hooks.registered')).to.include({ fix: 'steward install hooks' });
    expect((await cli('install', 'completion', '--shell', 'bash')).code).to.equal(0);
    const { parts } = await json<{ parts: { id: string; state: string }[] }>('status');
    expect(parts.find(({ id }) => id === 'hooks')).to.include({
      state: 'warning',
      fix: 'steward install hooks',
    });
  });

  it('runs this steward from its hooks and jobs', async () => {
    const session = { session_id: 'aaaaaaaa-2222-3333-4444-555555555555', cwd: home.path };
    expect(sh('steward-hook', ['session-start'], JSON.stringify(session))).to.equal(0);
    expect((await json<{ sessions: object[] }>('sessions', '--all')).sessions).to.have.length(2);
    expect(sh('steward-job', ['tick'])).to.equal(0);
    const record = (await json<DailyRecord[]>('sense', 'recent')).find(({ date }) => date === yesterday);
    expect(record, 'the day is over').to.include({ final: true });
    const { sources } = await json<{ sources: { id: string; state: string }[] }>('sense', 'status');
    expect(sources.find(({ id }) => id === 'agentSession')).to.include({ state: 'ok' });
    expect((await cli('hooks', 'install')).stdout).to.match(/already/i);
    expect((await cli('sense', 'install', '--scheduler', 'cron')).code).to.equal(0);
    expect(crontab.text()?.match(/steward-job/g)).to.have.length(1);
    expect(crontab.text()).to.include('steward-tick');
  });

  it('uninstalls it completely', async () => {
    const result = await cli('uninstall', '--purge', '--yes');
    expect(result.code, result.stderr).to.equal(0);
    expect(crontab.text() ?? '').to.equal('');
    expect(files()).to.deep.equal(found);
    for (const folder of ['.steward', '.cache/steward', '.local/state/steward'])
      expect(existsSync(join(home.path, folder)), folder).to.equal(false);
  });
});
