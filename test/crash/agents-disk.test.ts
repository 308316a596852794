import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, steward, type StewardResult } from '../helpers/cli';
import { startFake, type Fake } from '../helpers/fake-managed/server';
import type { FakeSession } from '../helpers/fake-managed/session';
import { smallDisk, type SmallDisk } from '../helpers/small-disk';

const EVENTS = 3000;
const RUN = ['run', '--agent', 'agent_1', '--environment', 'env_1', 'go'];

/** The commands of `agents` on a real disk that is full, or read-only. */
describe('real: agents on a full or read-only disk', function () {
  this.timeout(180_000);
  let disk: SmallDisk | undefined;
  let fake: Fake;

  beforeEach(async function () {
    disk = smallDisk(this, '600k');
    const said = (n: number) => ({ type: 'text', text: `line ${n} ${'x'.repeat(300)}` });
    fake = await startFake({
      script: () =>
        Array.from({ length: EVENTS }, (_, n) => ({ emit: { type: 'agent.message', content: [said(n)] } })),
    });
    fake.agents.set('agent_1', { id: 'agent_1', name: 'one' });
    fake.environments.set('env_1', { id: 'env_1' });
  });

  afterEach(async () => {
    await fake?.stop();
    disk?.remove();
    disk = undefined;
  });

  const onDisk = (): SmallDisk => disk ?? expect.fail('no disk');
  const session = (): FakeSession => [...fake.sessions.values()][0] ?? expect.fail('no session');
  const env = () => ({ STEWARD_MANAGED_URL: fake.url });

  /** A command of a hosted session whose stdout goes to the end of a file. */
  async function into(out: string, home: string, args: readonly string[]): Promise<StewardResult> {
    const fd = openSync(out, 'a');
    const child = spawn(process.execPath, [BIN, 'agents', 'managed', ...args, '--json'], {
      env: cleanEnv(home, env()),
      stdio: ['ignore', fd, 'pipe'],
    });
    closeSync(fd);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout: '', stderr };
  }

  function expectWhole(out: string): void {
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).to.deep.equal(session().log.map(({ id }) => id));
  }

  it('stops a session whose log is full, and continues without a gap once there is space', async () => {
    const elsewhere = emptyHome();
    try {
      const out = join(elsewhere.path, 'out.jsonl');
      const { path } = onDisk();
      const full = await into(out, path, RUN);
      expect(full.code).to.equal(8);
      expect(full.stderr).to.match(/The disk is full: .*sesn_\w+\.jsonl/);
      onDisk().remount('size=64m');
      expect(await into(out, path, ['wake'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      expectWhole(out);
    } finally {
      elsewhere.remove();
    }
  });

  it('reports that its output file is full, and continues at the same byte', async () => {
    const home = emptyHome();
    try {
      const out = join(onDisk().path, 'out.jsonl');
      const full = await into(out, home.path, RUN);
      expect(full.code).to.equal(8);
      expect(full.stderr).to.include('The disk is full: standard output');
      onDisk().remount('size=64m');
      expect(await into(out, home.path, ['wake'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      expectWhole(out);
    } finally {
      home.remove();
    }
  });

  it('fails if only part of a document fits', async () => {
    const home = emptyHome();
    onDisk().fill(4096);
    const fd = openSync(join(onDisk().path, 'out.json'), 'w');
    const child = spawn(process.execPath, [BIN, 'agents', 'roster', 'traits', '--json'], {
      env: cleanEnv(home.path),
      stdio: ['ignore', fd, 'pipe'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    closeSync(fd);
    expect((await once(child, 'close'))[0]).to.equal(8);
    expect(stderr).to.include('The disk is full: standard output');
    home.remove();
  });

  it('reads a read-only area, and explains why it cannot write', async () => {
    const { path, remount } = onDisk();
    remount('size=64m');
    const agents = (...args: string[]): Promise<StewardResult> =>
      steward(['agents', ...args], { home: path, env: env() });
    const write = (name: string, text: string): void => {
      mkdirSync(join(path, '.steward', name, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(join(path, '.steward', name), text, { mode: 0o600 });
    };
    write('agents/ada.md', '---\nname: Ada\nrole: tester\n---\nHas seen it all.\n');
    write('knowledge/ideas/tea.md', '# Tea\nLeaves.\n');
    expect((await agents('managed', ...RUN)).code).to.equal(0);
    const { id } = session();
    rmSync(join(path, '.cache'), { recursive: true, force: true });
    remount('ro');
    const reads: [args: string[], says: RegExp][] = [
      [['route', 'ask Ada to look'], /named agent/],
      [['brief', 'look'], /Task:/],
      [['roster', 'list'], /ada {2}Ada/],
      [['roster', 'show', 'ada'], /Has seen it all/],
      [['knowledge', 'search', 'leaves'], /ideas\/tea/],
      [['knowledge', 'show', 'tea'], /Leaves/],
      [['watch', '--once'], /No session has subagents/],
      [['managed', 'list'], /agent_1/],
      [['managed', 'env', 'list'], /env_1/],
      [['managed', 'sessions'], new RegExp(`${id}  idle`)],
      [['managed', 'show', id], /local log {4}3.?003 events/],
    ];
    for (const [args, says] of reads) {
      const result = await agents(...args);
      expect(result, args.join(' ')).to.include({ code: 0, stderr: '' });
      expect(result.stdout, args.join(' ')).to.match(says);
    }
    const before = session().log.length;
    const writes: string[][] = [
      ['roster', 'add', 'bo', '--role', 'tester'],
      ['managed', ...RUN],
      ['managed', 'wake'],
      ['managed', 'stream', id],
      ['managed', 'stream', id, '--all'],
      ['managed', 'send', id, 'and more'],
      ['watch'],
    ];
    for (const args of writes) {
      const result = await agents(...args);
      expect(result, args.join(' ')).to.include({ code: 8, stdout: '' });
      expect(result.stderr, args.join(' ')).to.match(
        /The file system is read-only: \/.*\nMake the file system writable, or set STEWARD_HOME/,
      );
    }
    expect(fake.sessions.size).to.equal(1);
    expect(session().log, 'nothing was sent').to.have.length(before);
    expect((await agents('managed', 'interrupt', id)).code).to.equal(0);
    expect((await agents('managed', 'archive', id)).code).to.equal(0);
  });
});
