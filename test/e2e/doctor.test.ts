import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { sha256 } from '../../src/lib/platform/files/install-manifest';
import { BIN, cleanEnv, withoutCode, steward } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { patient, RESPONDED, type Patient } from '../helpers/doctor';
import { closeServer } from '../helpers/github';
import { screensOf } from '../helpers/on-terminal';
import { requireTerminal } from '../helpers/real-part';
import { script } from '../helpers/speech';

describe('doctor (built)', function () {
  this.timeout(120_000);
  let at: Patient;
  beforeEach(() => {
    at = patient();
  });
  afterEach(() => at.remove());

  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return (server.address() as AddressInfo).port;
  };

  describe('as a command', () => {
    it('lists every part of an empty home, without failures or changes to the home', async () => {
      // Speech engines may make folders of their own.
      const bin = mkdtempSync(join(tmpdir(), 'steward-bin-'));
      withoutCode(at.path);
      at.env = { STEWARD_NO_CODE_CACHE: '1', PATH: bin };
      const { code, report } = await at.doctor();
      expect(code).to.equal(0);
      expect(report.counts.failed, JSON.stringify(report.checks)).to.equal(0);
      expect([...new Set(report.checks.map(({ part }) => part))]).to.deep.equal([
        'machine',
        'area',
        'config',
        'sense',
        'hooks',
        'jobs',
        'daemon',
        'notify',
        'work',
        'shell',
        'sync',
      ]);
      for (const row of report.checks) expect(row.found, row.id).not.to.equal('');
      expect(readdirSync(at.path)).to.deep.equal([]);
      rmSync(bin, { recursive: true });
    });

    it('shows no progress on a terminal that reports no width (slow)', async function () {
      requireTerminal(this);
      const [screen] = await screensOf([['doctor', 'area']], {
        home: at.path,
        columns: 0,
        env: cleanEnv(at.path),
      });
      expect(screen?.text).to.include('area.folder');
      expect(screen?.text.split('\n').filter((line) => /^\s*\S\s*$/.test(line))).to.deep.equal([]);
    });

    it('exits 3 for a broken configuration, whichever part is requested, and skips the other checks', async () => {
      at.write('.steward/config.yaml', 'daemon:\n  port: many\nda: 5\n');
      const { code, report } = await at.doctor('shell');
      expect(code).to.equal(3);
      expect(report.worst).to.equal('failed');
      const rows = report.checks.filter(({ id }) => id === 'config.files');
      expect(rows.map(({ state }) => state)).to.deep.equal(['failed', 'failed']);
      expect(rows.map(({ found }) => found).join()).to.match(/daemon\.port: expected.*da: expected/);
      const all = await steward(['doctor'], { home: at.path });
      expect(all.code).to.equal(3);
      expect(all.stdout).to.match(/\d+ not checked because the configuration is invalid/);
      expect(all.stdout).not.to.include('sense.front');
    });

    it('exits 8 on a failure, and on a warning with --strict', async () => {
      at.env = { PATH: dirname(process.execPath) };
      at.write('.steward/sense/config.json', '{"repos":["/nowhere/at/all"]}');
      expect((await at.doctor('sense')).code).to.equal(8);
      rmSync(join(at.area, 'sense'), { recursive: true });
      at.write('.steward/settings.json', '{"mood":"good"}');
      expect((await at.doctor('config')).code).to.equal(0);
      expect((await at.doctor('config', '--strict')).code).to.equal(8);
    });

    it('exits 2 for an unknown part or flag', async () => {
      const wrong = await steward(['doctor', 'sence'], { home: at.path });
      expect(wrong).to.include({ code: 2, stdout: '' });
      expect(wrong.stderr).to.match(/sence/).and.match(/sense/);
      const second = await steward(['doctor', 'sense', 'wrok'], { home: at.path });
      expect(second).to.include({ code: 2, stdout: '' });
      expect(second.stderr).to.include('Unknown part "wrok".');
      expect((await steward(['doctor', '--onlin'], { home: at.path })).code).to.equal(2);
    });

    it('exits 130 on Ctrl-C and leaves no process behind (slow)', async () => {
      const bin = join(at.path, 'bin');
      mkdirSync(bin);
      const pidFile = join(at.path, 'pid');
      script(
        join(bin, 'git'),
        `echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; exec sleep 600`,
      );
      const child = spawn(process.execPath, [BIN, 'doctor', 'sense'], {
        env: cleanEnv(at.path, { PATH: `${bin}:${process.env['PATH'] ?? ''}` }),
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      while (!existsSync(pidFile)) await new Promise((resolve) => setTimeout(resolve, 20));
      child.kill('SIGINT');
      expect(await ended).to.deep.equal([130, null]);
      const pid = Number(readFileSync(pidFile, 'utf8'));
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
    });

    it('suggests only commands that exist', async () => {
      const manifest = JSON.parse(
        readFileSync(join(__dirname, '..', '..', 'oclif.manifest.json'), 'utf8'),
      ) as {
        commands: Record<string, { flags: object }>;
      };
      const folder = join(__dirname, '..', '..', 'src', 'lib');
      const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /doctor[\\/]|checks?\.ts$/.test(path) && path.endsWith('.ts'))
        .map((path) => readFileSync(join(folder, path), 'utf8'));
      const named = sources.flatMap((text) =>
        [...text.matchAll(/[`'"(]steward ([a-z][a-z -]*[a-z])/g)].map(([, words = '']) => words),
      );
      expect(named.length).to.be.greaterThan(25);
      for (const words of named) {
        const [path = '', ...flags] = words.split(/ --/);
        const ids = Object.keys(manifest.commands);
        const parts = path.trim().split(' ');
        const id = parts
          .map((_, count) => parts.slice(0, parts.length - count).join(':'))
          .find((one) => ids.includes(one));
        expect(id, `steward ${words}`).not.to.equal(undefined);
        for (const flag of flags)
          expect(manifest.commands[id ?? '']?.flags, words).to.have.property(flag.trim().replace(/^no-/, ''));
      }
    });
  });

  describe('machine', () => {
    it('warns about an old node on the PATH', async () => {
      await at.expectRow('machine.node', 'ok', /^Node\.js \d/);
      const bin = join(at.path, 'bin');
      mkdirSync(bin);
      script(join(bin, 'node'), 'echo 18.20.4');
      at.env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
      await at.expectRow('machine.node', 'warning', /the first node on your PATH, .* is 18\.20\.4/);
    });

    it('warns about a code cache that is a link or writable by others', async () => {
      withoutCode(at.path);
      await at.expectRow('machine.cache', 'ok', /code$/);
      const cache = join(at.path, '.cache', 'steward', 'code');
      chmodSync(cache, 0o777);
      const row = await at.expectRow('machine.cache', 'warning', /other users can write/);
      expect(spawnSync('sh', ['-c', row.fix ?? '']).status).to.equal(0);
      await at.expectRow('machine.cache', 'ok', /code$/);
      rmSync(cache, { recursive: true });
      symlinkSync(tmpdir(), cache);
      await at.expectRow('machine.cache', 'warning', /is not writable/);
    });

    it('warns about a clock that was set back', async () => {
      await at.expectRow('machine.clock', 'ok', /UTC$/);
      at.write('.steward/sense/state.json', '{"version":1,"lastCaptureTs":"2999-01-01T00:00:00.000Z"}');
      await at.expectRow(
        'machine.clock',
        'warning',
        /the last capture was at 2999-01-01.*the clock was set back/,
      );
    });

    it('compares the clock with a configured host, only if allowed', async () => {
      let date = new Date().toUTCString();
      const server = createServer((_, response) => response.setHeader('date', date).end());
      const port = await listen(server);
      try {
        at.write(
          '.steward/settings.json',
          JSON.stringify({ notifications: { push: { topic: 't1', server: `http://127.0.0.1:${port}` } } }),
        );
        await at.expectRow('machine.offset', 'off', /not checked: add --online/);
        await at.expectRow('machine.offset', 'ok', /^within \d+ s of 127\.0\.0\.1$/, '--online');
        date = new Date(Date.now() - 600_000).toUTCString();
        await at.expectRow('machine.offset', 'failed', /^10 min ahead of 127\.0\.0\.1$/, '--online');
      } finally {
        await closeServer(server);
      }
      await at.expectRow('machine.offset', 'off', /no configured host returned the time/, '--online');
    });
  });

  describe('area', () => {
    it('warns about a folder that others can read, with a command that fixes it', async () => {
      await at.expectRow('area.folder', 'off', /does not exist yet/);
      await at.run('sense', 'init');
      await at.expectRow('area.folder', 'ok', /is private and writable/);
      chmodSync(at.area, 0o755);
      const row = await at.expectRow('area.folder', 'warning', /other users of this machine can read/);
      expect(spawnSync('sh', ['-c', row.fix ?? '']).status).to.equal(0);
      await at.expectRow('area.folder', 'ok', /is private/);
    });

    it('reports a link in place of a folder, and a broken link', async () => {
      await at.run('sense', 'init');
      symlinkSync('/tmp', join(at.area, 'work'));
      await at.expectRow('area.folder', 'failed', /work is a symbolic link/);
      rmSync(at.area, { recursive: true });
      symlinkSync(join(at.path, 'gone'), at.area);
      await at.expectRow('area.folder', 'failed', /is a broken link/);
    });

    it('reports a file in place of the user area', async () => {
      writeFileSync(at.area, 'mine');
      const row = await at.expectRow('area.folder', 'failed', /is not a folder, so nothing can be stored/);
      expect(row.fix ?? null).to.equal(null);
    });

    it('reports a user area that cannot be created', async function () {
      if (process.getuid?.() !== 0) this.skip();
      expect(spawnSync('chmod', ['-R', 'a+rX', at.path]).status).to.equal(0);
      const result = await steward(['doctor', 'area', '--json'], { home: at.path, uid: 65_534 });
      expect(result.stdout, result.stderr).to.include(`"${at.path} is not writable (EACCES)"`);
      expect(result.stdout).not.to.include('steward up');
      expect(result.code).to.equal(8);
    });

    it('reports a folder that is not writable', async function () {
      if (process.getuid?.() !== 0) this.skip();
      await at.run('sense', 'init');
      // As a user who may look, and not write.
      expect(spawnSync('chmod', ['-R', 'a+rX', at.path]).status).to.equal(0);
      const result = await steward(['doctor', 'area', '--json'], { home: at.path, uid: 65_534 });
      expect(result.stdout, result.stderr).to.match(/\.steward is not writable \(EACCES\)/);
      expect(result.code).to.equal(8);
    });

    it('reports state files that are newer, damaged or missing', async () => {
      await at.run('sense', 'init');
      await at.expectRow('area.formats', 'ok', /valid and in the current format/);
      at.write('.steward/sense/state.json', '{"version":99}');
      await at.expectRow('area.formats', 'failed', /written by a newer steward \(format 99\)/);
      at.write('.steward/sense/state.json', '{"versi');
      const row = await at.expectRow('area.formats', 'warning', /state\.json is damaged/);
      expect(row.fix).to.equal('steward sense capture');
      await at.run('sense', 'capture');
      await at.expectRow('area.formats', 'ok', /valid/);
      at.write('.steward/state/sessions.json', '{"version":99,"sessions":{}}');
      await at.expectRow('area.formats', 'failed', /sessions\.json was written by a newer steward/);
      at.write('.steward/state/sessions.json', 'torn');
      await at.expectRow('area.formats', 'warning', /sessions\.json is damaged/);
      at.write('.steward/state/asks.json', '{"version":1,"asks":[{"id":"q');
      await at.expectRow('area.formats', 'warning', /asks\.json is damaged; the assistants ask/);
      at.write('.claude/projects/shop/s1.jsonl', '{}\n');
      await at.run('usage');
      const [logs] = readdirSync(at.path, { recursive: true, encoding: 'utf8' }).filter((file) =>
        file.endsWith(join('usage', 'logs.json')),
      );
      at.write(join(logs ?? '', '..', 'prices.json'), '{"asOf":');
      const prices = await at.expectRow(
        'area.formats',
        'warning',
        /the price table is damaged, so prices as/,
      );
      expect(prices.fix).to.equal('steward usage prices update --shipped --yes');
      at.write('.steward/state/install-manifest.json', '[');
      await at.expectRow('area.formats', 'failed', /install-manifest\.json.* is damaged/);
    });

    it('warns about unreadable lines, but not about an incomplete last one', async () => {
      await at.run('sense', 'init');
      await at.expectRow('area.logs', 'ok', /lines? read/);
      at.write('.steward/observability/hooks.jsonl', '{"ts":"x"}\n{"cut');
      await at.expectRow('area.logs', 'ok', /the last line of hooks\.jsonl is incomplete/);
      at.write('.steward/observability/hooks.jsonl', '{"ts":"x"}\nnonsense\n');
      await at.expectRow('area.logs', 'warning', /hooks\.jsonl has 1 unreadable line$/);
      const today = new Date().toISOString().slice(0, 10);
      at.write(`.steward/sense/quarantine/${today}.jsonl`, '{"line":1}\n{"line":2}\n');
      await at.expectRow('area.logs', 'warning', / has 2 quarantined lines$/);
    });
  });

  describe('config', () => {
    it('warns about unknown keys', async () => {
      await at.expectRow('config.files', 'ok', /all defaults/);
      at.write('.steward/config.yaml', 'da:\n  nam: Nova\n');
      await at.expectRow('config.files', 'warning', /da\.nam: unknown key, ignored/);
      at.write('.steward/config.yaml', 'da:\n  name: Nova\n');
      await at.expectRow('config.files', 'ok', /^config\.yaml$/);
    });

    it('checks how secrets are stored, and never shows one', async () => {
      await at.expectRow('config.secrets', 'ok', /no secrets set/);
      const path = at.write('.steward/settings.json', '{"notifications":{"push":{"topic":"hush-hush-1"}}}');
      await at.expectRow('config.secrets', 'ok', /^1 set, 1 stored in private files$/);
      chmodSync(path, 0o644);
      const row = await at.expectRow(
        'config.secrets',
        'failed',
        /other users of this machine can read .*settings\.json/,
      );
      expect(spawnSync('sh', ['-c', row.fix ?? '']).status).to.equal(0);
      await at.expectRow('config.secrets', 'ok', /^1 set/);
      spawnSync('git', ['init', '-q', at.path]);
      await at.expectRow(
        'config.secrets',
        'warning',
        /notifications\.push\.topic is stored in .* git repository/,
      );
      at.write('.steward/settings.json', '{"notifications":{"push":{"topic":"env:MY_TOPIC"}}}');
      await at.expectRow('config.secrets', 'failed', /environment variable MY_TOPIC is not set/);
      at.env = { MY_TOPIC: 'hush-hush-1' };
      await at.expectRow('config.secrets', 'ok', /^1 set, all stored as references$/);
      const { report } = await at.doctor();
      expect(JSON.stringify(report)).not.to.include('hush');
    });
  });

  describe('sense', () => {
    it('reports that no application can be captured, with the command that turns that off', async () => {
      // A graphical session that this process does not belong to.
      at.write('run/wayland-0', '');
      at.env = { XDG_RUNTIME_DIR: join(at.path, 'run') };
      const row = await at.expectRow('sense.front', 'warning', /neither DISPLAY nor WAYLAND_DISPLAY is set/);
      expect(row.fix).to.equal('steward config set sense.sources.appFocus false');
      await at.expectRow('sense.idle', 'off', /not visible from this session/);
      await at.run('config', 'set', 'sense.sources.appFocus', 'false');
      await at.expectRow('sense.front', 'off', /sense\.sources\.appFocus is false/);
    });

    it('reports an invalid classification as a failure, because captures need it', async () => {
      await at.expectRow('sense.classify', 'ok', /^the built-in rules$/);
      at.write('.steward/sense/classify.yaml', '- {app: Firefox, kind: creation}\n');
      await at.expectRow('sense.classify', 'ok', /^1 custom rule, then the built-in rules$/);
      at.write('.steward/sense/classify.yaml', '- {app: [}\n');
      await at.expectRow('sense.classify', 'failed', /classify\.yaml is not valid YAML \(line 1/);
      expect((await at.doctor('sense')).code).to.equal(3);
    });

    it('reports a display that does not respond', async () => {
      at.env = { DISPLAY: ':4077' };
      await at.expectRow('sense.front', 'failed', /./);
    });

    it('runs git, and reports it as missing', async () => {
      await at.expectRow('sense.git', 'ok', /^git version \d/);
      const bin = join(at.path, 'bin');
      mkdirSync(bin);
      symlinkSync(process.execPath, join(bin, 'node'));
      at.env = { PATH: bin };
      await at.expectRow('sense.git', 'warning', /git is not installed/);
      script(join(bin, 'git'), 'exit 1');
      await at.expectRow('sense.git', 'failed', /is not a working git/);
    });

    it('runs git in each repository (slow)', async () => {
      await at.expectRow('sense.repos', 'off', /no repositories are watched/);
      const [good, bad, none] = ['good', 'bad', 'none'].map((name) => join(at.path, name)) as [
        string,
        string,
        string,
      ];
      for (const path of [good, bad]) spawnSync('git', ['init', '-q', path]);
      mkdirSync(none);
      spawnSync('git', ['-C', good, 'config', 'user.email', 'ann@example.org']);
      const watch = (paths: string[]): string =>
        at.write('.steward/sense/config.json', JSON.stringify({ repos: paths }));
      watch([good]);
      await at.expectRow('sense.repos', 'ok', /^git works in good$/);
      watch([good, bad, none, join(at.path, 'gone')]);
      writeFileSync(join(bad, '.git', 'config'), '[core\n');
      await at.expectRow('sense.repos', 'failed', /bad: /);
      await at.expectRow('sense.repos', 'failed', /none is not a git repository/);
      await at.expectRow('sense.repos', 'failed', /gone does not exist/);
      writeFileSync(join(bad, '.git', 'config'), '[core]\nrepositoryformatversion = 0\n');
      await at.expectRow('sense.repos', 'warning', /bad has no user\.email/);
    });

    it('reports whether captures are scheduled (slow)', async () => {
      await at.expectRow('sense.capture', 'off', /not set up/);
      await at.run('sense', 'init');
      await at.expectRow('sense.capture', 'warning', /no capture yet, and no captures are scheduled/);
      const daemon = await startDaemon({ home: at.path });
      try {
        await at.run('sense', 'capture');
        await at.expectRow('sense.capture', 'ok', /last capture at .*, by the daemon/);
      } finally {
        await daemon.stop();
      }
      await at.run('config', 'set', 'sense.enabled', 'false');
      await at.expectRow('sense.capture', 'off', /sense\.enabled is false/);
    });

    it('checks for the insight program', async () => {
      at.write('.steward/sense/config.json', '{"insight":{"command":["no-such-program"]}}');
      await at.expectRow('sense.insight', 'off', /no-such-program is not installed/);
      at.write('.steward/sense/config.json', '{"insight":{"command":["sh"]}}');
      await at.expectRow('sense.insight', 'ok', /\/sh; runs only with/);
      at.write('.steward/sense/config.json', '{"insight":{"command":["./sh"]}}');
      await at.expectRow('sense.insight', 'failed', /relative path/);
    });
  });

  describe('hooks', () => {
    const settings = (): string => join(at.path, '.claude', 'settings.json');
    const shim = (): string => join(at.area, 'bin', 'steward-hook');
    const expectResponse = async (): Promise<void> => {
      const [call] = await at.rows('hooks.run');
      expect(call?.found).to.match(RESPONDED);
    };

    it('calls the registered hook like the assistant, without side effects (slow)', async () => {
      await at.expectRow('hooks.registered', 'off', /not registered/);
      await at.expectRow('hooks.run', 'off', /no hooks installed/);
      mkdirSync(join(at.path, '.claude'));
      await at.run('hooks', 'install');
      await at.expectRow('hooks.registered', 'ok', /^12 hooks in .*settings\.json/);
      await expectResponse();
      expect(existsSync(join(at.area, 'observability', 'hooks.jsonl'))).to.equal(false);
    });

    it('reports hooks that are missing, disabled or failing, and its command fixes them (slow)', async () => {
      mkdirSync(join(at.path, '.claude'));
      await at.run('hooks', 'install');
      const whole = JSON.parse(readFileSync(settings(), 'utf8')) as { hooks: Record<string, unknown> };
      const { Stop, ...rest } = whole.hooks;
      expect(Stop).not.to.equal(undefined);
      writeFileSync(settings(), JSON.stringify({ ...whole, disableAllHooks: true, hooks: rest }));
      await at.expectRow('hooks.registered', 'warning', /not registered in .*: Stop$/);
      await at.expectRow('hooks.registered', 'warning', /all hooks are disabled by disableAllHooks in /);
      rmSync(shim());
      await at.expectRow('hooks.registered', 'failed', /steward-hook is missing, so the hooks do nothing/);
      script(shim(), 'exit 0');
      await at.expectRow('hooks.run', 'failed', /a hook ran, but steward returned no valid response/);
      script(shim(), 'exit 2');
      const row = await at.expectRow('hooks.run', 'failed', /exited with code 2/);
      expect(row.fix).to.equal('steward install hooks');
      await at.run('hooks', 'install');
      await expectResponse();
      writeFileSync(settings(), '{ nonsense');
      await at.expectRow('hooks.registered', 'failed', /is not JSON/);
    });

    it('counts sessions and the entries in the hook queue', async () => {
      await at.expectRow('hooks.sessions', 'off', /no sessions recorded yet/);
      await at.expectRow('hooks.spool', 'ok', /^empty$/);
      const input = JSON.stringify({ session_id: 'a1', hook_event_name: 'SessionStart', cwd: at.path });
      await steward(['hook', 'session-start'], { home: at.path, input });
      await at.expectRow('hooks.sessions', 'ok', /^1 known, 1 running$/);
      const name = '20200101T000000000Z-0123456789ab.session-ended.json';
      const left = {
        version: 1,
        id: name.slice(0, 32),
        kind: 'session-ended',
        at: '2020-01-01T00:00:00.000Z',
        machine: '0123456789ab',
        session: 'a1',
      };
      at.write(`.steward/state/spool/${name}`, JSON.stringify(left));
      await at.expectRow('hooks.spool', 'warning', /^1 pending hook entry, the oldest from \d+ h ago$/);
      at.write(`.steward/state/spool/dead/${name}`, JSON.stringify(left));
      await at.expectRow('hooks.spool', 'warning', /^1 failed permanently: not recorded \(1\)$/);
    });
  });

  describe('daemon', () => {
    it('reports what runs, who owns the port, and that unauthorized requests are refused (slow)', async () => {
      await at.expectRow('daemon.runs', 'off', /not running/);
      const daemon = await startDaemon({ home: at.path });
      try {
        await at.expectRow('daemon.runs', 'ok', new RegExp(`process ${daemon.pid}`));
        await at.expectRow('daemon.port', 'ok', /^your daemon responds at/);
        if (process.platform === 'linux')
          await at.expectRow('daemon.users', 'ok', /^other users are refused$/);
        await at.expectRow(
          'daemon.guard',
          'ok',
          /^refuses an unknown Host header, an unknown Origin header, a cross-site request$/,
        );
      } finally {
        await daemon.stop('SIGKILL');
      }
      await at.expectRow('daemon.runs', 'off', /not running/);
    });

    it('reports a port that another program uses, and its command chooses another one', async () => {
      const server = createServer((_, response) => response.end('hello'));
      const port = await listen(server);
      try {
        await at.run('config', 'set', 'daemon.port', String(port));
        const row = await at.expectRow('daemon.port', 'warning', new RegExp(`port ${port} is in use by`));
        await at.run(...(row.fix ?? '').split(' ').slice(1));
        expect((await at.rows('daemon.port'))[0]?.found).not.to.include(`port ${port} `);
      } finally {
        await closeServer(server);
      }
      await at.run('config', 'set', 'daemon.port', String(port));
      await at.expectRow('daemon.port', 'ok', new RegExp(`^${port} is free$`));
    });

    it('reports an address that this machine does not have, and its command chooses another one', async () => {
      const server = createServer();
      await at.run('config', 'set', 'daemon.port', String(await listen(server)));
      await closeServer(server);
      await at.run('config', 'set', 'daemon.requireToken', 'true');
      await at.run('config', 'set', 'daemon.host', '240.0.0.1');
      const served = await steward(['daemon', 'serve'], { home: at.path });
      expect(served.stderr).to.include('This machine does not have the address 240.0.0.1.');
      const row = await at.expectRow('daemon.port', 'failed', /does not have the address 240\.0\.0\.1/);
      await at.run(...(row.fix ?? '').split(' ').slice(1));
      await at.expectRow('daemon.port', 'ok', /is free$/);
      await at.run('config', 'set', 'daemon.requireToken', 'false');
    });

    it('reports another program at the address of the daemon, and a daemon that accepts foreign pages (slow)', async () => {
      const daemon = await startDaemon({ home: at.path });
      const server = createServer((_, response) => response.end('{}'));
      const port = await listen(server);
      try {
        const folder = join(at.path, '.local', 'state', 'steward');
        const [area = ''] = readdirSync(folder).filter((name) =>
          existsSync(join(folder, name, 'daemon.json')),
        );
        const file = join(folder, area, 'daemon.json');
        const instance = JSON.parse(readFileSync(file, 'utf8')) as object;
        writeFileSync(file, JSON.stringify({ ...instance, port, url: `http://127.0.0.1:${port}` }));
        await at.expectRow('daemon.port', 'failed', /another program responds at/);
        await at.expectRow(
          'daemon.guard',
          'failed',
          /accepts an unknown Host header \(200\), an unknown Origin header \(200\)/,
        );
      } finally {
        await closeServer(server);
        await daemon.stop();
      }
    });
  });

  describe('shell', () => {
    it('finds the completion and the snippet for long commands (slow)', async () => {
      at.env = { SHELL: '/bin/fish' };
      const missing = await at.expectRow('shell.completion', 'off', /not installed for fish/);
      expect(missing.fix).to.equal('steward install completion --shell fish');
      const { stdout } = await at.run('completion', 'fish');
      at.write('.config/fish/completions/steward.fish', stdout);
      await at.expectRow('shell.completion', 'ok', /steward\.fish$/);
      at.write('.config/fish/completions/steward.fish', stdout.replace('roster', 'rooster'));
      const older = await at.expectRow('shell.completion', 'warning', /from another version/);
      expect(older.fix, 'the installer has not written it').to.match(/completion fish > .*steward\.fish$/);
      for (const shell of ['bash', 'zsh']) {
        at.env = { SHELL: `/bin/${shell}` };
        const { fix } = await at.expectRow('shell.completion', 'off', /not installed/);
        const words = String(fix).split(' ').slice(1);
        expect(await at.run(...words)).to.include({ code: 0 });
        const { found } = await at.expectRow('shell.completion', 'ok', /_?steward$/);
        const path = found.replace(/^\w+: /, '');
        appendFileSync(path, '# of before\n');
        expect((await at.expectRow('shell.completion', 'warning', /another version/)).fix).to.include(path);
        // As if that were what an earlier version had written.
        const manifest = join(at.area, 'state', 'install-manifest.json');
        const { version, entries } = JSON.parse(readFileSync(manifest, 'utf8')) as Written;
        const after = sha256(readFileSync(path));
        const older = entries.map((entry) => (entry.path === path ? { ...entry, after } : entry));
        writeFileSync(manifest, JSON.stringify({ version, entries: older }));
        expect((await at.expectRow('shell.completion', 'warning', /another version/)).fix).to.equal(fix);
        expect(await at.run(...words)).to.include({ code: 0 });
        await at.expectRow('shell.completion', 'ok', /steward$/);
      }
      at.env = { SHELL: '/bin/fish' };
      const off = await at.expectRow('shell.long', 'off', /^off$/);
      at.write('.config/fish/config.fish', `# shell-hook\n${off.fix}\n`);
      await at.expectRow('shell.long', 'ok', /config\.fish$/);
      at.env = { SHELL: '/bin/tcsh' };
      await at.expectRow('shell.completion', 'off', /not bash, zsh or fish/);
    });
  });
});

interface Written {
  version: number;
  entries: { path: string }[];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
