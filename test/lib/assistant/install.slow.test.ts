import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { claudeCode } from '../../../src/lib/assistant/claude-code';
import { installHooks } from '../../../src/lib/assistant/install';
import type { HookInstallDeps } from '../../../src/lib/assistant/install-deps';
import { hooksStatuses, type HooksStatus } from '../../../src/lib/assistant/install-view';
import { shimCommands } from '../../../src/lib/assistant/shim';
import { userArea } from '../../../src/lib/config/user-area';
import { StewardError } from '../../../src/lib/errors';
import type { Clock } from '../../../src/lib/platform/time/clock';
import { run } from '../../../src/lib/platform/process/process';
import { scratch } from '../../helpers/scratch';
import { settings, writeJson, writing } from '../../helpers/settings-texts';
import { uninstallHooks } from '../../helpers/uninstall-hooks';

const ROOT = resolve(__dirname, '..', '..', '..');
const THEIRS = '{\n\t"model": "x",\n\t"hooks": { "Stop": [ ] }\n}';

describe('assistant: hooks in a home folder', () => {
  const box = scratch();
  const path = (): string => box.path('.claude', 'settings.json');
  const shim = (): string => box.path('.steward', 'bin', 'steward-hook');
  const manifest = (): string => box.path('.steward', 'state', 'install-manifest.json');
  const read = (): string => readFileSync(path(), 'utf8');

  function put(text: string, mode = 0o600): void {
    mkdirSync(box.path('.claude'), { recursive: true });
    writeFileSync(path(), text);
    chmodSync(path(), mode);
  }

  function deps(over: { env?: NodeJS.ProcessEnv; clock?: Clock; machineId?: string } = {}): HookInstallDeps {
    const host = { platform: process.platform, env: over.env ?? {}, home: box.path() };
    return {
      area: userArea(host),
      // Each look at the clock is a second later, so that no two backups have one name.
      clock: over.clock ?? ticking(),
      machineId: over.machineId ?? '0123456789ab',
      host,
      product: { root: ROOT, node: process.execPath },
    };
  }

  const install = (over?: Parameters<typeof deps>[0], dryRun = false) =>
    installHooks(deps(over), { assistant: claudeCode, dryRun });
  const uninstall = (over?: Parameters<typeof deps>[0], dryRun = false) =>
    uninstallHooks(deps(over), { assistant: claudeCode, dryRun });

  async function statusOf(): Promise<HooksStatus> {
    const found = await hooksStatuses({ ...deps(), run, isHeard: () => false }, [claudeCode]);
    return found[0] as HooksStatus;
  }

  /** All that is left below the home, but for empty state folders and machine-local state. */
  const leftovers = (): string[] =>
    readdirSync(box.path(), { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith(join('.local', '')) && lstatSync(box.path(name)).isFile())
      .sort();

  async function refusal(work: Promise<unknown>): Promise<StewardError> {
    try {
      await work;
    } catch (error) {
      if (error instanceof StewardError) return error;
      throw error;
    }
    return expect.fail('it did not fail');
  }

  it('registers, is the same the second time, and takes itself back to the byte', async () => {
    put(THEIRS);
    const first = await install();
    expect(first).to.deep.include({ kept: [], dryRun: false, warnings: [] });
    expect(first.added).to.have.length(12);
    expect(first.shim).to.deep.equal({ path: shim(), written: true });
    expect(statSync(shim()).mode & 0o777).to.equal(0o700);
    expect(statSync(first.backup ?? '').mode & 0o777).to.equal(0o600);
    expect(readFileSync(first.backup ?? '', 'utf8')).to.equal(THEIRS);
    const once = read();
    const files = leftovers();
    const recorded = readFileSync(manifest(), 'utf8');
    expect(await install()).to.deep.include({
      added: [],
      backup: null,
      shim: { path: shim(), written: false },
    });
    expect([read(), leftovers(), readFileSync(manifest(), 'utf8')]).to.deep.equal([once, files, recorded]);
    const taken = await uninstall();
    expect(taken.settings).to.deep.equal([{ path: path(), entries: 12, removed: false }]);
    expect(read()).to.equal(THEIRS);
    expect(leftovers()).to.deep.equal(['.claude/settings.json']);
    expect((await uninstall()).settings).to.deep.equal([{ path: path(), entries: 0, removed: false }]);
    expect(read()).to.equal(THEIRS);
  });

  it('is no change at all for random settings', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(settings, writing, async (value, how) => {
        const source = writeJson(value, how);
        put(source);
        await install();
        expect(JSON.parse(read().replace('\ufeff', ''))).to.have.nested.property('hooks.SessionEnd');
        await uninstall();
        expect(read()).to.equal(source);
        expect(leftovers()).to.deep.equal(['.claude/settings.json']);
      }),
      { numRuns: 60 },
    );
  });

  it('makes the file and its folder where the assistant has none, and removes both', async () => {
    const { backup } = await install();
    expect(backup).to.equal(null);
    expect(statSync(path()).mode & 0o777).to.equal(0o600);
    expect((await uninstall()).settings).to.deep.equal([{ path: path(), entries: 12, removed: true }]);
    expect(existsSync(box.path('.claude'))).to.equal(false);
  });

  it('keeps a file that it made once somebody has written into it', async () => {
    await install();
    const content = JSON.parse(read()) as Record<string, unknown>;
    put(JSON.stringify({ ...content, model: 'x' }));
    await uninstall();
    expect(read()).to.equal('{"model":"x"}');
  });

  it('keeps the mode, whatever the umask', async function () {
    if (process.platform === 'win32') this.skip();
    const before = process.umask(0o077);
    try {
      for (const mode of [0o644, 0o600, 0o666]) {
        put(THEIRS, mode);
        await install();
        expect(statSync(path()).mode & 0o777).to.equal(mode);
        await uninstall();
        expect(statSync(path()).mode & 0o777).to.equal(mode);
      }
    } finally {
      process.umask(before);
    }
  });

  it('writes through a link of the user, and keeps it', async () => {
    mkdirSync(box.path('dotfiles'));
    mkdirSync(box.path('.claude'));
    writeFileSync(box.path('dotfiles', 'claude.json'), THEIRS);
    symlinkSync(box.path('dotfiles', 'claude.json'), path());
    await install();
    expect(lstatSync(path()).isSymbolicLink()).to.equal(true);
    expect(readFileSync(box.path('dotfiles', 'claude.json'), 'utf8')).to.include('steward-hook');
    expect(readdirSync(box.path('dotfiles'))).to.deep.equal(['claude.json']);
    await uninstall();
    expect(readFileSync(box.path('dotfiles', 'claude.json'), 'utf8')).to.equal(THEIRS);
    expect(lstatSync(path()).isSymbolicLink()).to.equal(true);
  });

  it('leaves what it cannot read as it is, and installs nothing at all', async () => {
    const cases: [string, () => void][] = [
      ['is not JSON', () => put('{\n  // mine\n}')],
      ['is not JSON', () => put('{')],
      ['is not an object keyed by event', () => put('{"hooks": 1}')],
      ['is not UTF-8', () => (put(''), writeFileSync(path(), Buffer.from('{"a": "\xe9"}', 'latin1')))],
      ['is a link to a missing file', () => symlinkSync(box.path('nowhere'), path())],
      ['is not a regular file', () => mkdirSync(path())],
    ];
    for (const [message, make] of cases) {
      rmSync(box.path('.claude'), { recursive: true, force: true });
      mkdirSync(box.path('.claude'));
      make();
      const works = [() => install(), () => install({}, true), () => uninstall()];
      // What has another shape holds none of ours: nothing to take back.
      for (const work of works.slice(0, message === 'is not an object keyed by event' ? 2 : 3)) {
        const error = await refusal(work());
        expect(error.message).to.include(message);
        expect(error.kind).to.equal('config');
        expect(error.hint).to.be.a('string');
      }
      expect(readdirSync(box.path('.claude'))).to.deep.equal(['settings.json']);
      expect(existsSync(box.path('.steward', 'bin'))).to.equal(false);
    }
  });

  it('quotes nothing of a file that may hold secrets', async () => {
    put('{"env": {"TOKEN": "hush-hush" x}}');
    const error = await refusal(install());
    expect(error.message).to.include('line 1, column 31');
    expect(`${error.message} ${error.hint ?? ''}`).to.not.include('hush');
  });

  it('writes nothing at all in a dry run, and tells what it would do', async () => {
    put(THEIRS);
    const dry = await install({}, true);
    expect(dry.added).to.have.length(12);
    expect(dry).to.deep.include({ dryRun: true, shim: { path: shim(), written: true } });
    expect(dry.backup).to.match(/settings\.json\.steward-backup-/);
    expect(readdirSync(box.path())).to.deep.equal(['.claude']);
    await install();
    const files = leftovers();
    const dryUninstall = await uninstall({}, true);
    expect(dryUninstall.settings).to.deep.equal([{ path: path(), entries: 12, removed: false }]);
    expect(dryUninstall.shim).to.deep.equal({ path: shim(), removed: true });
    expect(leftovers()).to.deep.equal(files);
    expect((await uninstall()).settings).to.deep.equal(dryUninstall.settings);
    rmSync(path());
    await install();
    const whole = await uninstall({}, true);
    expect(whole.settings).to.deep.equal([{ path: path(), entries: 12, removed: true }]);
    expect((await uninstall()).settings).to.deep.equal(whole.settings);
  });

  it('takes a file that touch made for one without settings, and gives it back as it was', async () => {
    for (const text of ['', '\n \n']) {
      put(text);
      expect((await install()).added).to.have.length(12);
      expect((await install()).added).to.deep.equal([]);
      await uninstall();
      expect(read()).to.equal(text);
    }
  });

  it('leaves nothing behind where the settings cannot be written', async () => {
    const refused: [string, () => void][] = [
      ['is read-only', () => put(THEIRS, 0o400)],
      ['.claude', () => writeFileSync(box.path('.claude'), 'a file')],
      ['.claude', () => symlinkSync(box.path('nowhere'), box.path('.claude'))],
    ];
    for (const [message, make] of refused) {
      rmSync(box.path('.claude'), { recursive: true, force: true });
      make();
      const error = await refusal(install());
      expect(error.message).to.include(message);
      if (message === 'is read-only')
        expect((await refusal(install({}, true))).message).to.equal(error.message);
      expect(error.hint).to.be.a('string').and.not.include('STEWARD_HOME');
      expect(leftovers().filter((name) => !name.startsWith('.claude'))).to.satisfy((names: string[]) =>
        names.every((name) => name.endsWith('install-manifest.json')),
      );
      expect(existsSync(shim())).to.equal(false);
      if (existsSync(path())) expect(read()).to.equal(THEIRS);
    }
  });

  it('says that all hooks are switched off, and whose else are registered', async () => {
    put('{"disableAllHooks": true}');
    expect((await install()).warnings.join()).to.include('disableAllHooks');
    const other = { STEWARD_HOME: box.path('other') };
    const second = await install({ env: other });
    expect(second.warnings.join()).to.include('Another user area').and.to.include(shim());
    const { strangers } = await statusOf();
    expect(strangers).to.have.length(12);
    expect((await uninstall()).strangers).to.have.length(12);
    expect((await uninstall({ env: other })).strangers).to.deep.equal([]);
    expect(read()).to.not.include('steward-hook');
  });

  it('passes over what it may not look at on the PATH', async () => {
    put(THEIRS);
    const loop = box.path('loop');
    symlinkSync(loop, loop);
    expect((await install({ env: { PATH: `${loop}:${path()}:/nowhere` } })).added).to.have.length(12);
  });

  it('follows CLAUDE_CONFIG_DIR, and uninstalls from where it once installed', async () => {
    const env = { CLAUDE_CONFIG_DIR: box.path('elsewhere') };
    await install({ env });
    expect(readdirSync(box.path('elsewhere'))).to.deep.equal(['settings.json']);
    await uninstall();
    expect(existsSync(box.path('elsewhere'))).to.equal(false);
    const relative = await refusal(install({ env: { CLAUDE_CONFIG_DIR: 'here' } }));
    expect(relative.message).to.include('not an absolute path');
  });

  it('completes an install of which a part was taken out, and still takes it all back', async () => {
    put('{"model": "x"}');
    await install();
    const content = JSON.parse(read()) as { hooks: Record<string, unknown> };
    delete content.hooks['Stop'];
    delete content.hooks['SessionEnd'];
    put(JSON.stringify(content, null, 2));
    const again = await install();
    expect(again.added).to.deep.equal(['Stop', 'SessionEnd']);
    expect(again.backup).to.be.a('string');
    await uninstall();
    expect(read()).to.equal('{\n  "model": "x"\n}');
    expect(leftovers()).to.deep.equal(['.claude/settings.json']);
  });

  it('keeps three backups at most, and no trace of them afterwards but one that somebody changed', async () => {
    put('{"model": "x"}');
    const clock = ticking();
    for (let time = 0; time < 6; time += 1) {
      await install({ clock });
      const content = JSON.parse(read()) as { hooks: Record<string, unknown> };
      delete content.hooks['Stop'];
      put(JSON.stringify(content));
    }
    const backups = readdirSync(box.path('.claude')).filter((name) => name.includes('.steward-backup-'));
    expect(backups).to.have.length(3);
    const kept = box.path('.claude', backups[0] ?? '');
    writeFileSync(kept, 'mine');
    expect((await uninstall()).left).to.deep.equal([kept]);
    expect(readdirSync(box.path('.claude')).sort()).to.deep.equal(['settings.json', backups[0]]);
  });

  it('finds its entries without a manifest, and in spite of one of another machine', async () => {
    put('{"model": "x"}');
    await install();
    await uninstall({ machineId: 'ba9876543210' });
    expect(read()).to.equal('{"model": "x"}');
    expect(JSON.parse(readFileSync(manifest(), 'utf8'))).to.have.nested.property('entries.length', 2);
    rmSync(manifest());
    await install();
    rmSync(manifest());
    await uninstall();
    expect(read()).to.equal('{"model": "x"}');
  });

  it('writes the shim again when it is not as it should be', async () => {
    await install();
    for (const spoil of [
      () => writeFileSync(shim(), ''),
      () => chmodSync(shim(), 0o600),
      () => rmSync(shim()),
    ]) {
      spoil();
      expect(await install()).to.deep.include({ added: [], shim: { path: shim(), written: true } });
      expect(statSync(shim()).mode & 0o777).to.equal(0o700);
    }
  });

  it('does not overwrite what the assistant writes at the same moment', async () => {
    put('{"a": 1}');
    // The clock is asked once between each reading of the settings and their writing.
    let times = 0;
    const clock = ticking(() => {
      if (existsSync(shim()) && times < 3) put(`{"a": ${(times += 1) + 1}}`);
    });
    await install({ clock });
    const content = JSON.parse(read()) as { a: number; hooks: unknown };
    expect(content.hooks).to.be.an('object');
    expect(content.a).to.equal(4);
    await uninstall();
    expect(read()).to.equal('{"a": 4}');
    expect(leftovers()).to.deep.equal(['.claude/settings.json']);
  });

  describe('the status line', () => {
    const OWN = '~/.claude/line.sh --name "it\'s me"';
    const withLine = (dryRun = false) =>
      installHooks(deps(), { assistant: claudeCode, dryRun, statusLine: true });
    const line = (): unknown =>
      (JSON.parse(read()) as Record<string, Record<string, unknown>>)['statusLine']?.['command'];
    const status = async () => (await statusOf()).statusLine;
    /** Settings whose raw status line JSON.stringify would write otherwise. */
    const theirs = (command: string): string =>
      `{\n  "statusLine" : {"padding":1, "type": "command","command" :${command} },\n  "model": "x" }`;
    const RAW = JSON.stringify(OWN).replaceAll('/', '\\/');

    it('is not touched without the flag', async () => {
      put(THEIRS);
      expect((await install()).statusLine).to.equal(null);
      expect(line()).to.equal(undefined);
      expect(await status()).to.equal('none');
    });

    it('is added where there is none, once, and removed to the byte', async () => {
      put(THEIRS);
      expect((await withLine(true)).statusLine).to.equal('added');
      expect(read()).to.equal(THEIRS);
      expect((await withLine()).statusLine).to.equal('added');
      expect(line()).to.equal(`${shim()} statusline || :`);
      expect(await status()).to.equal('steward');
      const once = [read(), leftovers(), readFileSync(manifest(), 'utf8')];
      expect(await withLine()).to.deep.include({ added: [], statusLine: 'unchanged', backup: null });
      expect([read(), leftovers(), readFileSync(manifest(), 'utf8')]).to.deep.equal(once);
      expect((await uninstall({}, true)).statusLine).to.equal('removed');
      expect((await uninstall()).statusLine).to.equal('removed');
      expect(read()).to.equal(THEIRS);
      expect(leftovers()).to.deep.equal(['.claude/settings.json']);
    });

    it('goes with a file that the install made', async () => {
      await withLine();
      await uninstall();
      expect(existsSync(box.path('.claude'))).to.equal(false);
    });

    it('is chained below an existing one, which keeps its other fields and its bytes', async () => {
      put(theirs(RAW));
      expect(await withLine()).to.deep.include({ statusLine: 'chained' });
      expect(line()).to.equal(`${shim()} statusline --then '${OWN.replaceAll("'", `'\\''`)}' || :`);
      expect(read()).to.include('"padding":1');
      expect(await withLine()).to.deep.include({ statusLine: 'unchanged' });
      expect(JSON.parse(readFileSync(manifest(), 'utf8')).entries[1].added.statusLine).to.include(RAW);
      expect((await uninstall()).statusLine).to.equal('restored');
      expect(read()).to.equal(theirs(RAW));
    });

    it('is added to hooks that are installed, and the file still comes back to the byte', async () => {
      for (const text of [THEIRS, theirs(RAW), '', '{ }']) {
        put(text);
        await install();
        await withLine();
        await install();
        await uninstall();
        expect(read()).to.equal(text);
        expect(leftovers()).to.deep.equal(['.claude/settings.json']);
      }
    });

    it('is taken out of a file that was edited since, in the bytes that were there', async () => {
      put(theirs(RAW));
      await withLine();
      put(read().replace('"padding":1', '"padding":2').replace('"x"', '"y"'));
      await uninstall();
      expect(read()).to.equal(theirs(RAW).replace('"padding":1', '"padding":2').replace('"x"', '"y"'));
      await withLine();
      put(read().replace('--name', '--other'));
      await uninstall();
      expect(JSON.parse(read())).to.have.nested.property(
        'statusLine.command',
        OWN.replace('--name', '--other'),
      );
    });

    it('leaves a status line that a person wrote since', async () => {
      put(theirs(RAW));
      await withLine();
      const mine = theirs('"mine.sh"');
      put(mine);
      expect(await status()).to.equal('other');
      expect((await uninstall()).statusLine).to.equal(null);
      expect(read()).to.equal(mine);
      const built = theirs(JSON.stringify(`cat | ${shim()} statusline`));
      put(built);
      expect((await withLine()).statusLine).to.equal('unchanged');
      expect((await uninstall()).left).to.deep.equal([`cat | ${shim()} statusline`]);
      expect(read()).to.equal(built);
    });

    it('restores the command without a manifest, and a value that is no command with one', async () => {
      put(theirs(RAW));
      await withLine();
      rmSync(manifest());
      await uninstall();
      expect(JSON.parse(read())).to.deep.equal(JSON.parse(theirs(RAW)));
      for (const value of ['null', '{ "type": "command" }', '{"command": " "}']) {
        const text = `{"statusLine":  ${value}, "model": "x"}`;
        put(text);
        expect((await withLine()).statusLine).to.equal('added');
        put(read().replace('"x"', '"y"'));
        await uninstall();
        expect(read()).to.equal(text.replace('"x"', '"y"'));
      }
    });

    it('is there already where a command prints it', async () => {
      for (const command of [
        'steward statusline',
        '/usr/bin/steward statusline --then x',
        'cat | steward statusline',
      ]) {
        put(theirs(JSON.stringify(command)));
        expect((await withLine()).statusLine, command).to.equal('unchanged');
        expect(line()).to.equal(command);
        expect(await status()).to.equal('steward');
      }
    });

    it('stays as it is on Windows where no shell quotes it', () => {
      const windows = shimCommands('C:\\bin\\steward-hook.cmd', {
        platform: 'win32',
        home: 'C:\\Users\\ann',
      });
      expect(windows.statusLineFor('echo "%PATH%"')).to.equal(undefined);
      const chained = windows.statusLineFor('bash ~/line.sh') ?? '';
      expect(chained).to.equal('"C:/bin/steward-hook.cmd" statusline --then "bash ~/line.sh"');
      expect(windows.statusLineOf(chained)).to.deep.equal({ then: 'bash ~/line.sh' });
    });
  });

  describe('status', () => {
    const status = () => statusOf();

    it('tells not, installed and partly apart, and writes nothing', async () => {
      expect(await status()).to.deep.include({
        state: 'not',
        node: null,
        steward: null,
        switchedOffBy: null,
      });
      expect(readdirSync(box.path())).to.deep.equal([]);
      await install();
      const all = await status();
      expect(all.events.every(({ registered }) => registered)).to.equal(true);
      expect(all.node).to.deep.equal({ path: process.execPath, version: process.versions.node });
      const content = JSON.parse(read()) as { hooks: Record<string, unknown> };
      delete content.hooks['Stop'];
      put(JSON.stringify({ ...content, disableAllHooks: true }));
      const some = await status();
      expect(some).to.include({ state: 'partly', switchedOffBy: `disableAllHooks in ${path()}` });
      expect(some.events.filter(({ registered }) => !registered)).to.deep.equal([
        { event: 'Stop', registered: false },
      ]);
      rmSync(shim());
      expect(await status()).to.deep.include({
        state: 'partly',
        shim: { path: shim(), exists: false, runs: false },
      });
    });
  });
});

function ticking(onLook: () => void = () => undefined): Clock {
  let now = Date.parse('2026-11-20T08:14:00Z');
  return {
    now: () => {
      onLook();
      now += 1000;
      return now;
    },
    monotonic: () => performance.now(),
  };
}
