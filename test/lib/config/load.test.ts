import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { defaultConfig, loadConfig } from '../../../src/lib/config/load';
import { userArea } from '../../../src/lib/config/user-area';
import { StewardError } from '../../../src/lib/errors';
import { readText } from '../../../src/lib/platform/files/atomic-file';
import { cachePath } from '../../../src/lib/platform/files/paths';
import { shortHash } from '../../../src/lib/platform/files/short-hash';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

describe('config: loadConfig', () => {
  let at: TestArea;
  beforeEach(() => (at = testArea()));
  afterEach(() => at.remove());

  const load = (env: NodeJS.ProcessEnv = {}, flags: Record<string, unknown> = {}) =>
    loadConfig({ area: at.area, env, home: at.home, flags });

  async function problems(env: NodeJS.ProcessEnv = {}): Promise<StewardError> {
    try {
      await load(env);
    } catch (error) {
      expect(error).to.be.instanceOf(StewardError);
      expect(error).to.have.property('kind', 'config');
      return error as StewardError;
    }
    throw new Error('it loaded');
  }

  it('keeps what a YAML file says until its text changes, and never a secret', async () => {
    const name = `config.yaml-${shortHash(at.area.own)}.json`;
    const kept = (): string => readText(join(cachePath(), name)) ?? '';
    const days = async (): Promise<number> => (await load()).config.sense.retentionDays;
    at.write('config.yaml', 'sense:\n  retentionDays: 40\n');
    expect([await days(), await days()]).to.deep.equal([40, 40]);
    expect(kept()).to.include('"retentionDays":40');
    at.write('config.yaml', '# token: of-mine\nsense:\n  retentionDays: 41\n');
    expect([await days(), await days()]).to.deep.equal([41, 41]);
    expect(kept()).to.include('"retentionDays":41').and.not.include('of-mine');
    const [before, secret] = [kept(), 'bot-token-of-mine'];
    const push = `notifications:\n  push:\n    token: ${secret}\n`;
    at.write('config.yaml', push);
    expect((await load()).config.settings.notifications.push.token.stored()).to.equal(secret);
    at.write('config.yaml', 'sense: [\n');
    await problems();
    expect(kept()).to.equal(before);
  });

  it('gives the defaults of the specification where no file is, and makes none', async () => {
    const { config, warnings, origins } = await load();
    const { insight, ...sense } = config.sense;
    expect(insight.command.slice(0, 2)).to.deep.equal(['claude', '--print']);
    expect(sense).to.deep.equal({
      enabled: true,
      pollIntervalSec: 120,
      sources: { appFocus: true, git: true, agentSession: true, web: true },
      repos: [],
      retentionDays: 30,
      idleAfterSec: 300,
      countsAsActive: [],
      exclude: [],
      git: { authors: 'mine', backfillDays: 30 },
    });
    // The machine may call it by another of its names, as Asia/Kathmandu for Asia/Katmandu.
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: config.user.timezone }).resolvedOptions();
    expect(timeZone).to.equal(new Intl.DateTimeFormat().resolvedOptions().timeZone);
    expect(config.user.daemon).to.deep.equal({
      host: '127.0.0.1',
      port: 31337,
      requireToken: false,
      otherUsers: false,
    });
    expect(config.user.agents.types).to.deep.equal({
      general: 'general-purpose',
      explore: 'Explore',
      plan: 'Plan',
      builder: 'builder',
      toolGuide: 'tool-guide',
      researchers: ['researcher-a', 'researcher-b', 'researcher-c'],
    });
    const { push, chat, thresholds, routing } = config.settings.notifications;
    expect([push.enabled, push.topic.isSet, chat.enabled, thresholds.longTaskMinutes]).to.deep.equal([
      true,
      false,
      false,
      5,
    ]);
    expect(routing).to.deep.equal({
      taskComplete: [],
      longTask: ['push'],
      backgroundAgent: ['push'],
      error: ['push'],
      security: ['push', 'chat'],
      attention: ['desktop', 'push'],
      reminder: ['desktop', 'push'],
      limit: ['desktop'],
    });
    expect(warnings).to.deep.equal([]);
    expect(new Set([...origins.values()].map(({ from }) => from))).to.deep.equal(new Set(['default']));
    expect(existsSync(at.area.root)).to.equal(false);
  });

  it('puts the file over the default, the environment over the file, and flags over all', async () => {
    const path = at.write('config.yaml', 'timezone: Asia/Tokyo\ndaemon: {port: 1000, host: localhost}\n');
    const fromFile = await load();
    expect(fromFile.config.user.timezone).to.equal('Asia/Tokyo');
    expect(fromFile.origins.get('timezone')).to.deep.equal({ from: 'file', path });
    const env = { STEWARD_TIMEZONE: 'Europe/Paris', STEWARD_PORT: '2000', STEWARD_HOST: '' };
    const both = await load(env, { 'daemon.port': 3000 });
    expect(both.config.user.timezone).to.equal('Europe/Paris');
    expect(both.config.user.daemon).to.deep.equal({
      port: 3000,
      host: 'localhost',
      requireToken: false,
      otherUsers: false,
    });
    expect(both.origins.get('timezone')).to.deep.equal({ from: 'env', name: 'STEWARD_TIMEZONE' });
    expect(both.origins.get('daemon.port')).to.deep.equal({ from: 'flag' });
  });

  it('requires the token by default where the system does not tell who connects', () => {
    const required = (['linux', 'darwin', 'win32'] as const).map((platform) => {
      const area = userArea({ platform, env: {}, home: at.home });
      return defaultConfig(area, at.home).user.daemon.requireToken;
    });
    expect(required).to.deep.equal([false, true, true]);
  });

  it('reads JSON content in config.yaml', async () => {
    at.write('config.yaml', '{"da": {"name": "Nova"}}');
    const { config } = await load();
    expect(config.user.da.name).to.equal('Nova');
  });

  it('takes a file of comments, and sections whose keys are all commented out, for nothing', async () => {
    at.write('config.yaml', '\ufeff# all\r\n\r\n  # of it\r\n');
    expect((await load()).config.user.da.name).to.equal('DA');
    at.write('config.yaml', 'da:\n  # name: Nova\nnotify:\n');
    expect((await load()).config.user.da.name).to.equal('DA');
  });

  it('gives the shortest form of a repository path', async () => {
    for (const path of [
      '/a',
      '/a/b',
      '/a//b',
      '/a/./b',
      '/a/../b',
      '/a/..',
      '/a/',
      '/a/.b',
      '/a/..b',
      '/a/b.',
      '/a /b',
    ]) {
      at.write('sense/config.json', JSON.stringify({ repos: [path] }));
      const { config } = await loadConfig({ area: at.area, env: {}, home: at.home });
      expect(config.sense.repos, path).to.deep.equal([resolve(path)]);
    }
  });

  it('takes repositories from ~/ and each once, whatever its spelling', async () => {
    const path = join(at.home, 'src');
    at.write('sense/config.json', JSON.stringify({ repos: ['~/src', path, `${path}/`] }));
    expect((await loadConfig({ area: at.area, env: {}, home: at.home })).config.sense.repos).to.deep.equal([
      path,
    ]);
  });

  it('says to unset or correct a variable that is wrong, which no file can help', async () => {
    expect((await problems({ STEWARD_TIMEZONE: 'Mars' })).hint).to.equal(
      'Unset or correct STEWARD_TIMEZONE. Nothing is captured until the configuration is valid.',
    );
    at.write('config.yaml', 'timezone: 5\n');
    expect((await problems({ STEWARD_TIMEZONE: 'Mars', STEWARD_PORT: 'x' })).hint).to.equal(
      'Unset or correct STEWARD_TIMEZONE, STEWARD_PORT. Edit the file or use "steward config set KEY VALUE". Nothing is captured until the configuration is valid.',
    );
  });

  it('tells every problem of every file at once: file, key, expected, found', async () => {
    const config = at.write('config.yaml', 'timezone: 5\nda:\n  name: [x]\nnotify:\n  quietHours: night\n');
    const settings = at.write('settings.json', '{"notifications": {"routing": {"error": ["push", "fax"]}}}');
    const sense = at.write(
      'sense/config.json',
      '{"enabled": "no", "pollIntervalSec": 5, "repos": ["/ok", "src"], "sources": null}',
    );
    const { message } = await problems({ STEWARD_PORT: 'high' });
    for (const line of [
      `${config}: timezone: expected an IANA time zone such as Europe/Berlin, found 5`,
      `${config}: da.name: expected one line of text, found a list`,
      `${config}: notify.quietHours: expected a time range such as 22:00-07:00, found "night"`,
      `${settings}: notifications.routing.error[1]: expected a list of push, chat, telegram, desktop, terminal, atBreak (for the voice, set notifications.voice.events), found "fax"`,
      `${sense}: enabled: expected true or false, found "no"`,
      `${sense}: pollIntervalSec: expected a whole number from 10 to 3600, found 5`,
      `${sense}: repos[1]: expected a list of paths that are absolute or start with ~/, found "src"`,
      `${sense}: sources: expected key-value pairs (appFocus, git, agentSession, web), found nothing`,
      'STEWARD_PORT (environment): expected a whole number from 0 to 65535, found "high"',
    ]) {
      expect(message.split('\n').map((each) => each.trim())).to.include(line);
    }
    expect(message.split('\n')).to.have.length(10);
  });

  it('is strict about a blank kill switch: null is not true', async () => {
    at.write('sense/config.json', '{"enabled": null}');
    expect((await problems()).message).to.include('enabled: expected true or false, found nothing');
  });

  it('reads a verification of another version, and refuses one that is damaged', async () => {
    const write = (privacy: unknown): string =>
      at.write('work/work_repo.json', JSON.stringify({ repo: 'ann/work', privacy }));
    const stored = { verifiedPrivate: true, visibility: 'private', verifiedAt: '2026-11-20T09:00:00Z' };
    write({ ...stored, ttlHours: 24 });
    const { config, warnings } = await load();
    expect(config.workRepo.privacy).to.deep.equal(stored);
    expect(warnings).to.deep.equal([]);
    for (const damaged of ['', true, { ...stored, verifiedPrivate: 'yes' }, { ...stored, repoId: -1 }]) {
      write(damaged);
      expect((await problems()).message).to.include('privacy: expected the result of a verification');
    }
  });

  it('names line and column of a file that does not parse, and goes on to the others', async () => {
    at.write('config.yaml', 'da:\n  name: "x\n');
    at.write('sense/config.json', '{\n  "enabled": true,\n}');
    const { message, hint } = await problems();
    expect(hint, 'config set refuses such a file').to.include('Edit the file.');
    expect(message).to.match(/config\.yaml: line \d, column \d+: missing character/);
    expect(message).to.include('config.json: line 3, column 1: property name expected');
  });

  long('finds a key that stands twice, and takes no long time over many that do not', async function () {
    this.timeout(20_000);
    const many = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1\n`).join('');
    const path = at.write('config.yaml', `${many}k7: 2\n`);
    expect((await problems()).message).to.include(`${path}: line 40001, column 1: duplicate key`);
  });

  const hostileYaml: Record<string, string> = {
    'duplicate keys': 'da:\n  name: a\n  name: b\n',
    'tags of code': 'timezone: !!js/function "function () {}"\n',
    'custom tags': 'timezone: !env TZ\n',
    'two documents': 'timezone: UTC\n---\ntimezone: Asia/Tokyo\n',
    'keys that are lists': '? [a, b]\n: c\n',
    'alias bombs': `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`)
      .join('\n')}\n`,
    'a million brackets': `a: ${'['.repeat(1_000_000)}\n`,
    'a million lists in one line': `${'- '.repeat(500_000)}\n`,
    'a thousand levels of blocks': Array.from(
      { length: 1000 },
      (_, depth) => `${' '.repeat(depth)}a:\n`,
    ).join(''),
    'an alias of nothing': 'timezone: *zone\n',
    'text that is not UTF-8': 'timezone: \udc00',
  };
  for (const [what, text] of Object.entries(hostileYaml)) {
    it(`refuses ${what}`, async () => {
      const path = at.write('config.yaml', '');
      writeFileSync(path, what.endsWith('UTF-8') ? Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]) : text);
      expect((await problems()).message).to.include(`${path}: `);
    });
  }

  it('refuses a file over a mebibyte, a folder, and a link that leads nowhere', async () => {
    at.write('config.yaml', `# ${'x'.repeat(1024 * 1024)}\n`);
    mkdirSync(at.area.settings);
    const { message } = await problems();
    expect(message).to.include(`${at.area.config}: is larger than 1048576 bytes`);
    expect(message).to.include(`${at.area.settings}: is not a regular file`);
  });

  it('follows an own link at config.yaml and settings.json, and refuses one at sense/config.json', async function () {
    if (process.platform === 'win32') this.skip();
    const dotfiles = join(at.home, 'dotfiles');
    mkdirSync(dotfiles);
    at.write('sense/state.json', '{}');
    writeFileSync(join(dotfiles, 'c.yaml'), 'da: {name: Nova}\n');
    symlinkSync(join(dotfiles, 'c.yaml'), at.area.config);
    expect((await load()).config.user.da.name).to.equal('Nova');
    symlinkSync(join(dotfiles, 'gone.json'), at.area.settings);
    symlinkSync(join(dotfiles, 'c.yaml'), at.area.sense.config);
    const { message } = await problems();
    expect(message).to.include(`${at.area.settings}: is a link to a missing file`);
    expect(message).to.include(`${at.area.sense.config}: is a symbolic link`);
  });

  it('is an error, not the defaults, when a file may not be read', async function () {
    if (process.platform === 'win32' || process.getuid?.() === 0) this.skip();
    chmodSync(at.write('config.yaml', 'da: {name: Nova}\n'), 0);
    expect((await problems()).message).to.include('cannot be read: permission denied');
  });

  it('calls a key in the wrong file an error that names the owner', async () => {
    at.write('config.yaml', 'enabled: false\nKANBAN_COLUMNS: [Queued]\n');
    at.write('settings.json', '{"timezone": "UTC", "da": {}}');
    at.write('sense/config.json', '{"daemon": {"port": 1}, "sense": {"enabled": false}}');
    const { message } = await problems();
    for (const line of [
      'config.yaml: enabled: this key belongs in config.yaml as sense.enabled; move it there',
      'config.yaml: KANBAN_COLUMNS: this key belongs in config.yaml as WORK.KANBAN_COLUMNS; move it there',
      'settings.json: timezone: this key belongs in config.yaml as timezone; move it there',
      'settings.json: da: this key belongs in config.yaml as da; move it there',
      'config.json: daemon: this key belongs in config.yaml as daemon; move it there',
      'config.json: sense: this key belongs in config.yaml as sense; move it there',
    ]) {
      expect(message).to.include(line);
    }
  });

  it('warns of unknown keys, of files that are not read, and of an area open to others', async () => {
    const path = at.write(
      'config.yaml',
      'colour: blue\nda:\n  nmae: x\n__proto__: {name: y}\n$import: other.yaml\npaths: {}\nagents: {managed: {silenceSec: 3}}\n',
    );
    at.write('other.yaml', 'da: {name: imported}\n');
    at.write('config.yml', 'da: {name: other}\n');
    const { warnings, config } = await load();
    expect(config.user.da.name).to.equal('DA');
    expect(warnings).to.include.members([
      `${path}: colour: unknown key, ignored`,
      `${path}: da.nmae: unknown key, ignored`,
      `${path}: __proto__: unknown key, ignored`,
      `${path}: $import: unknown key, ignored`,
      `${path}: paths: unknown key, ignored`,
      `${path}: agents.managed.silenceSec: unknown key, ignored`,
      `${join(at.area.root, 'config.yml')}: steward does not read this file; use ${path}`,
    ]);
    if (process.platform === 'win32') return;
    chmodSync(at.area.root, 0o755);
    expect((await load()).warnings.join('\n')).to.include('other users of this machine can read it');
  });

  it('warns when others can read a secret, and not when the file only says where it is', async function () {
    if (process.platform === 'win32') this.skip();
    const holding = (topic: string) =>
      at.write('settings.json', `{"notifications": {"push": {"topic": "${topic}"}}}`);
    const path = holding('env:TOPIC');
    chmodSync(path, 0o644);
    expect((await load()).warnings).to.deep.equal([]);
    holding('hush');
    expect((await load()).warnings).to.deep.equal([
      `${path}: other users of this machine can read its secrets; run chmod 600 on it`,
    ]);
  });

  it('reads a file of a newer version, with a warning; a version that is none is an error', async () => {
    at.write('sense/config.json', '{"version": 2, "pollIntervalSec": 60, "brandNew": true}');
    const { config, warnings } = await load();
    expect(config.sense.pollIntervalSec).to.equal(60);
    expect(warnings.join('\n')).to.include('format 2 is newer than');
    at.write('sense/config.json', '{"version": "two"}');
    expect((await problems()).message).to.include('version: expected a positive whole number, found "two"');
  });

  it('never puts a secret into an error, a warning or JSON', async () => {
    const secret = 'hush-7f3a';
    at.write('config.yaml', `notify: "${secret}\nx: ${secret}: ${secret}\n`);
    for (const push of [
      `"${secret}"`,
      `{"topic": "${secret} x"}`,
      `{"topic": ["${secret}"]}`,
      `{"topic": "${secret}`,
    ]) {
      at.write('settings.json', `{"notifications": {"push": ${push}}}`);
      const error = await problems();
      expect(`${error.message}${error.hint ?? ''}${String(error.cause)}`).to.not.include(secret);
    }
    at.write('config.yaml', '');
    at.write('settings.json', `{"notifications": {"push": {"topic": "${secret}"}}}`);
    const loaded = await load();
    expect(loaded.config.settings.notifications.push.topic.stored()).to.equal(secret);
    expect(JSON.stringify(loaded)).to.not.include(secret);
    expect(String(loaded.config.settings.notifications.push.topic)).to.equal('•••• (set)');
  });

  long('reads and executes nothing of a hostile current folder', function () {
    this.timeout(60_000);
    const proof = join(at.home, 'executed');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, __filename); module.exports = {da: {name: 'EVIL'}};`;
    const data = '{"da": {"name": "EVIL"}, "timezone": "Asia/Tokyo", "searchPlaces": ["evil.js"]}';
    const broken = '{{{ not anything';
    const scripts = [
      '.config/config.js',
      '.config/config.cjs',
      'steward.config.js',
      '.stewardrc.js',
      '.config/stewardrc.js',
    ];
    const texts = [
      '.config/config.json',
      '.config/config.yaml',
      '.stewardrc',
      '.config/stewardrc',
      'config.yaml',
      'settings.json',
    ];
    const inPackage = `{"steward": ${data}, "cosmiconfig": {"searchPlaces": ["evil.js"]}}`;
    const refused = '{"cosmiconfig": {"loaders": {".yaml": "./evil.js"}}}';
    // A folder for each: found together, the first would hide the others.
    const hostile = [
      ...scripts.map((name) => [name, code]),
      ...texts.map((name) => [name, data]),
      ...[...scripts, ...texts, 'package.json', 'package.yaml'].map((name) => [name, broken]),
      ['package.json', inPackage],
      ...['package.json', '.config/config.json', '.config/config.yaml'].map((name) => [name, refused]),
    ] as [string, string][];
    const folders = hostile.map(([name, text], index) => {
      const folder = join(at.home, 'hostile', String(index));
      mkdirSync(join(folder, '.config'), { recursive: true });
      writeFileSync(join(folder, 'evil.js'), code);
      writeFileSync(join(folder, name), text);
      return folder;
    });
    // With content in the user area, so that the YAML library is loaded.
    at.write('config.yaml', `timezone: Africa/Cairo\n$import: ${join(folders[0] as string, 'evil.js')}\n`);
    const deleted = join(at.home, 'deleted');
    const root = resolve(__dirname, '..', '..', '..');
    const script = join(at.home, 'run.cjs');
    writeFileSync(
      script,
      `require(${JSON.stringify(join(root, 'node_modules', 'tsx', 'dist', 'cjs', 'index.cjs'))});
      const { loadConfig } = require(${JSON.stringify(join(root, 'src/lib/config/load.ts'))});
      const { userArea } = require(${JSON.stringify(join(root, 'src/lib/config/user-area.ts'))});
      (async () => {
        for (const folder of process.argv.slice(2)) {
          process.chdir(folder);
          const seen = await loadConfig({ area: userArea(), env: {} }).then(
            ({ config }) => config.user.timezone + ' ' + config.user.da.name, String);
          console.log(seen + ' ' + (process.cwd() === require('node:fs').realpathSync(folder)));
        }
        // A current folder that is deleted is no reason to fail.
        const { mkdirSync, rmdirSync } = require('node:fs');
        mkdirSync(${JSON.stringify(deleted)});
        process.chdir(${JSON.stringify(deleted)});
        rmdirSync(${JSON.stringify(deleted)});
        console.log((await loadConfig({ area: userArea(), env: {} })).config.user.timezone);
      })();`,
    );
    const out = execFileSync(process.execPath, [script, ...folders], {
      cwd: folders[0],
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: at.home, STEWARD_HOME: at.area.root },
    });
    const seen = out.trim().split('\n');
    hostile.forEach(([name, text], index) =>
      expect(seen[index], `${name}: ${text}`).to.equal('Africa/Cairo DA true'),
    );
    expect(seen[hostile.length], 'in a deleted folder').to.equal('Africa/Cairo');
    expect(existsSync(proof), 'something of a folder was executed').to.equal(false);
  });
});
