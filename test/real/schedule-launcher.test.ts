import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { userArea } from '../../src/lib/config/user-area';
import { renderLauncher } from '../../src/lib/platform/process/launcher';
import { forShell } from '../../src/lib/platform/process/spawn';
import { jobEnvironment, launcherForm } from '../../src/lib/schedule/launcher';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';

const TEMPLATES = join(__dirname, '..', '..', 'templates', 'launcher');
const readText = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const read = (name: string): string => readFileSync(join(TEMPLATES, name), 'utf8');

/** A stand-in for node: says what it was asked to run and with what, and ends as it is told. */
const NODE = `#!/bin/sh
printf '%s|' "$@" "home=\${STEWARD_HOME-}" "path=$PATH" "display=\${DISPLAY-}" "options=\${NODE_OPTIONS-}"
cat
echo
echo complaint >&2
exit "\${END_WITH-0}"
`;

const SHELLS = [
  { name: 'dash', command: ['dash'] },
  { name: 'bash', command: ['bash', '--posix'] },
  { name: 'busybox', command: ['busybox', 'sh'] },
];

for (const shell of SHELLS) {
  describe(`schedule: job launcher in ${shell.name}`, () => {
    const box = scratch();

    before(function () {
      requirePrograms(this, { [shell.name]: shell.name });
    });

    function start(
      job: string[],
      {
        folder = 'plain',
        env = {},
        node = NODE,
        script = true,
      }: { folder?: string; env?: NodeJS.ProcessEnv; node?: string; script?: boolean } = {},
    ) {
      const home = box.path(folder);
      const set = {
        STEWARD_HOME: join(home, 'area'),
        PATH: `${join(home, 'my bin')}:/usr/bin:/bin`,
        DISPLAY: ':7',
      };
      const host = { platform: 'linux' as const, env: set, home };
      const area = userArea(host);
      const records = join(home, 'records');
      for (const path of [records, area.sense.logs, dirname(area.daemonLog)])
        mkdirSync(path, { recursive: true });
      const program = { node: join(home, 'node'), steward: join(home, 'run.js') };
      writeFileSync(program.node, node, { mode: 0o755 });
      if (script) writeFileSync(program.steward, '#!/usr/bin/env node\n');
      const form = launcherForm({ area, host });
      const text = renderLauncher(
        { body: read('steward-job.sh'), find: read('find.sh') },
        { ...program, nodeAlias: program.node },
        { ...form.values, RECORDS: forShell(records) },
        host,
      );
      expect(text).to.not.match(/@[A-Z_]+@/);
      writeFileSync(join(home, 'job'), text);
      const [file = '', ...args] = shell.command;
      const result = spawnSync(file, [...args, join(home, 'job'), ...job], {
        encoding: 'utf8',
        input: 'stdin of the scheduler',
        // Where no other node of this machine is found.
        env: { PATH: process.env['PATH'], HOME: home, NODE_OPTIONS: '--require ./evil.js', ...env },
      });
      return { ...result, home, records, log: join(area.sense.logs, 'tick.log'), set };
    }

    const children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
    });

    /** A launcher that keeps the daemon, as cron starts it; it was written by `start`. */
    function background(home: string): { pid: number; ended: Promise<number | null> } {
      const [file = '', ...args] = shell.command;
      const child = spawn(file, [...args, join(home, 'job'), 'daemon', '--keep'], {
        env: { PATH: process.env['PATH'], HOME: home },
        stdio: 'ignore',
      });
      children.push(child);
      return { pid: child.pid ?? 0, ended: new Promise((resolve) => child.once('exit', resolve)) };
    }

    it('runs the job with the environment of the install, and records how it ended', () => {
      for (const folder of ['plain', `it's 100% "x" $HOME a\\b größe`, '-n']) {
        const { status, stdout, stderr, records, log, home, set } = start(['tick'], { folder });
        expect({ status, stdout, stderr }, folder).to.deep.equal({ status: 0, stdout: '', stderr: '' });
        const words = [join(home, 'run.js'), 'tick', `home=${set.STEWARD_HOME}`, `path=${set.PATH}`];
        expect(readFileSync(log, 'utf8')).to.equal(`${words.join('|')}|display=:7|options=|\ncomplaint\n`);
        expect(statSync(log).mode & 0o777).to.equal(0o600);
        expect(readdirSync(records)).to.deep.equal(['tick']);
        expect(readFileSync(join(records, 'tick'), 'utf8')).to.equal('0\n');
      }
    });

    it("passes on the exit code, and keeps the scheduler session's own display", () => {
      const { status, records, log } = start(['tick'], { env: { END_WITH: '7', DISPLAY: ':1' } });
      expect(status).to.equal(7);
      expect(readFileSync(join(records, 'tick'), 'utf8')).to.equal('7\n');
      expect(readFileSync(log, 'utf8')).to.include('display=:1|');
    });

    it('reports missing files, and exits 127', () => {
      const { status, records, log } = start(['tick'], { script: false });
      expect(status).to.equal(127);
      expect(readFileSync(join(records, 'tick'), 'utf8')).to.equal('127\n');
      expect(readFileSync(log, 'utf8')).to.match(/steward not found/);
    });

    it('bounds its log, and runs if that is not writable', () => {
      const { log } = start(['tick']);
      writeFileSync(log, 'x'.repeat(300_000));
      start(['tick']);
      expect(statSync(log).size).to.be.lessThan(2000);
      expect(statSync(`${log}.1`).size).to.equal(300_000);
      rmSync(dirname(log), { recursive: true });
      writeFileSync(dirname(log), 'in the way');
      const [file = '', ...args] = shell.command;
      const { status, stderr } = spawnSync(file, [...args, box.path('plain', 'job'), 'tick'], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: box.path('plain') },
      });
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    });

    it('becomes the daemon, and records its start', () => {
      const { status, records } = start(['daemon'], { env: { END_WITH: '3' } });
      expect(status).to.equal(3);
      expect(readFileSync(join(records, 'daemon'), 'utf8')).to.equal('\n');
    });

    it('restarts a kept daemon until it exits cleanly', function () {
      // Its sleep is built in: a minute is a minute.
      if (shell.name === 'busybox') this.skip();
      const sleep = box.path('plain', 'my bin', 'sleep');
      mkdirSync(dirname(sleep), { recursive: true });
      writeFileSync(sleep, `#!/bin/sh\necho "$1" >>'${box.path('slept')}'\n`, { mode: 0o755 });
      const node = `#!/bin/sh\necho run >>"$0.runs"\n[ "$(wc -l <"$0.runs")" -ge 3 ]\n`;
      const { status, home } = start(['daemon', '--keep'], { node });
      expect(status).to.equal(0);
      expect(readFileSync(join(home, 'node.runs'), 'utf8')).to.equal('run\nrun\nrun\n');
      const slept = readFileSync(box.path('slept'), 'utf8').trim().split('\n').map(Number);
      expect(slept.reduce((sum, sec) => sum + sec, 0)).to.equal(120);
    });

    it('keeps one daemon: of two launchers that restart it, the later one continues', async () => {
      // Fails at its first start, and stays at the second, until it is let go.
      const node = `#!/bin/sh
echo run >>"$0.runs"
[ "$(wc -l <"$0.runs")" -ge 2 ] || exit 1
while [ ! -e "$0.go" ]; do sleep 0.05; done
`;
      const { home, records } = start(['--where'], { node });
      const runs = (): string => readText(join(home, 'node.runs'));
      const first = background(home);
      await until('its failure', () => runs() === 'run\n');
      expect(readText(join(records, '.keep'))).to.equal(`${first.pid}\n`);
      writeFileSync(join(records, `.run.daemon.${first.pid}`), '');
      const second = background(home);
      await until('the next start', () => runs() === 'run\nrun\n');
      expect(await first.ended).to.equal(0);
      expect(readdirSync(records).sort()).to.deep.equal(['.keep', 'daemon']);
      expect(readText(join(records, '.keep'))).to.equal(`${second.pid}\n`);
      writeFileSync(join(home, 'node.go'), '');
      expect(await second.ended).to.equal(0);
      expect(readdirSync(records)).to.deep.equal(['daemon']);
      expect(runs()).to.equal('run\nrun\n');
    });

    it("leaves another launcher's marker when its own daemon is stopped", async () => {
      const node = `#!/bin/sh
echo run >>"$0.runs"
n=$(($(wc -l <"$0.runs")))
while [ ! -e "$0.go$n" ]; do sleep 0.05; done
`;
      const { home, records } = start(['--where'], { node });
      const runs = (): string => readText(join(home, 'node.runs'));
      const first = background(home);
      await until('its daemon', () => runs() === 'run\n');
      const second = background(home);
      await until('the other daemon', () => runs() === 'run\nrun\n');
      writeFileSync(join(home, 'node.go1'), '');
      expect(await first.ended).to.equal(0);
      expect(readText(join(records, '.keep'))).to.equal(`${second.pid}\n`);
      writeFileSync(join(home, 'node.go2'), '');
      expect(await second.ended).to.equal(0);
      expect(readdirSync(records)).to.deep.equal(['daemon']);
    });

    it('ends while waiting, without another start, once its marker or the install is removed', async () => {
      const node = '#!/bin/sh\necho run >>"$0.runs"\nexit 1\n';
      for (const isAll of [false, true]) {
        const { home, records } = start(['--where'], { node, folder: isAll ? 'all' : 'name' });
        const { ended } = background(home);
        await until('its failure', () => readText(join(home, 'node.runs')) === 'run\n');
        rmSync(isAll ? records : join(records, '.keep'), { recursive: true });
        expect(await ended).to.equal(0);
        expect(readText(join(home, 'node.runs'))).to.equal('run\n');
        expect(existsSync(records)).to.equal(!isAll);
      }
    });

    it('keeps the daemon if the first start creates the state folder', async () => {
      const node = `#!/bin/sh
echo run >>"$0.runs"
mkdir -p "\${0%/node}/records"
[ "$(wc -l <"$0.runs")" -ge 2 ]
`;
      const { home, records } = start(['--where'], { node });
      rmSync(records, { recursive: true });
      const { pid, ended } = background(home);
      await until('its name', () => readText(join(records, '.keep')) === `${pid}\n`);
      rmSync(join(records, '.keep'));
      expect(await ended).to.equal(0);
    });

    it('prints what it would start, and refuses an unknown job', () => {
      const { stdout, home } = start(['--where']);
      expect(stdout).to.equal(`${join(home, 'node')}\n${join(home, 'run.js')}\n`);
      const { status, stderr } = start(['other']);
      expect(status).to.equal(2);
      expect(stderr).to.include('no job named other');
    });
  });
}

describe('schedule: the environment of the jobs', () => {
  it('has a PATH without relative and project entries', () => {
    const env = {
      PATH: '/a b::.:rel/bin:/p/node_modules/.bin:/usr/bin:/a b:/new\nline',
      STEWARD_HOME: '/area',
      XDG_STATE_HOME: '/state',
      ANTHROPIC_API_KEY: 'secret',
      GITHUB_TOKEN: 'secret',
      XDG_DATA_HOME: '',
    };
    expect(jobEnvironment({ platform: 'linux', env })).to.deep.equal({
      PATH: '/a b:/usr/bin',
      STEWARD_HOME: '/area',
      XDG_STATE_HOME: '/state',
    });
    expect(jobEnvironment({ platform: 'linux', env: { PATH: '.::bin' } }), 'no empty one').to.deep.equal({});
    const windows = { Path: 'C:\\Windows;"C:\\x";relative;D:\\my bin' };
    expect(jobEnvironment({ platform: 'win32', env: windows })).to.deep.equal({
      PATH: 'C:\\Windows;D:\\my bin',
    });
  });

  it('refuses a folder with a line break in its name', () => {
    expect(() =>
      jobEnvironment({ platform: 'linux', env: { PATH: '/bin', STEWARD_HOME: '/a\nb' } }),
    ).to.throw(/control character/);
  });
});
