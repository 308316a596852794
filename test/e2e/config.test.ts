import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { addDays, dayOf } from '../../src/lib/platform/time/time';
import { emptyHome, jsonOf, steward, type StewardOptions } from '../helpers/cli';

describe('config (built)', function () {
  this.timeout(60_000);
  let home: { path: string; remove: () => void };
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const run = (args: string[], options: StewardOptions = {}) =>
    steward(args, { home: home.path, ...options });
  const area = (name: string) => join(home.path, '.steward', name);
  const put = (name: string, text: string) => {
    mkdirSync(join(area(name), '..'), { recursive: true, mode: 0o700 });
    writeFileSync(area(name), text);
  };
  interface Shown {
    values: { key: string; value: unknown; source: string; from: string | null }[];
  }
  const shown = async (key: string, options: StewardOptions = {}) => {
    const result = await run(['config', 'show', '--all', '--json'], options);
    return (jsonOf(result) as Shown).values.find((entry) => entry.key === key);
  };

  it('shows every value with its origin: default, file, environment', async () => {
    expect(await shown('timezone')).to.include({ source: 'default', from: null });
    put('config.yaml', 'timezone: Asia/Tokyo\n');
    expect(await shown('timezone')).to.include({ value: 'Asia/Tokyo', from: area('config.yaml') });
    const env = { STEWARD_TIMEZONE: 'Europe/Paris' };
    expect(await shown('timezone', { env })).to.include({ source: 'env', from: 'STEWARD_TIMEZONE' });
    const { stdout, code } = await run(['config', 'show'], { env });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^timezone +STEWARD_TIMEZONE +Europe\/Paris$/m);
    expect(stdout).to.not.include('sense.');
  });

  it('a syntax error appears in status in whole sentences, with the fix', async () => {
    put('config.yaml', 'da: [\n');
    const { parts } = jsonOf(await run(['status', '--json'])) as { parts: { found: string }[] };
    expect(parts.map(({ found }) => found).join()).to.match(
      /config\.yaml: line \d, column \d: [^.]+\. Edit the file\. Nothing is captured until/,
    );
  });

  it('prints no secret on either stream', async () => {
    put('settings.json', '{"notifications": {"push": {"topic": "hush-hush"}}}');
    for (const args of [
      ['config', 'show'],
      ['config', 'show', '--json'],
    ]) {
      const { stdout, stderr } = await run(args);
      expect(stdout).to.include('•••• (set)');
      expect(stdout + stderr).to.not.include('hush');
    }
  });

  it('prints its paths without creating them', async () => {
    put('sense/config.json', '{}');
    expect(jsonOf(await run(['config', 'path', '--json']))).to.deep.equal({
      userArea: join(home.path, '.steward'),
      exists: true,
      files: [
        { name: 'config.yaml', path: area('config.yaml'), exists: false },
        { name: 'sense/config.json', path: area('sense/config.json'), exists: true },
      ],
    });
    expect((await run(['config', 'path'])).stdout.split('\n')[0]).to.equal(join(home.path, '.steward'));
    expect(existsSync(area('config.yaml'))).to.equal(false);
  });

  it('sets a key, keeps comments, and reports the change', async () => {
    put('config.yaml', '# mine\ntimezone: UTC # home\n');
    const { code, stdout } = await run(['config', 'set', 'timezone', 'Asia/Tokyo']);
    expect([code, stdout]).to.deep.equal([
      0,
      `timezone is now Asia/Tokyo (was UTC), in ${area('config.yaml')}\n`,
    ]);
    expect(readFileSync(area('config.yaml'), 'utf8')).to.equal('# mine\ntimezone: Asia/Tokyo # home\n');
    const dry = await run(['config', 'set', 'sense.enabled', 'false', '--dry-run', '--json']);
    expect(jsonOf(dry)).to.include({ key: 'sense.enabled', after: false, changed: true, dryRun: true });
    expect(existsSync(area('sense'))).to.equal(false);
  });

  it('moves the settings of an older file with the first change, and says so once', async () => {
    put('sense/config.json', '{"retentionDays": 60}');
    const first = await run(['config', 'set', 'da.name', 'Nova', '--json']);
    expect([first.code, jsonOf(first)]).to.have.nested.property('[1].after', 'Nova');
    expect(first.stderr).to.match(
      /^Moved 1 setting from sense\/config\.json to config\.yaml\. The old file is kept as .*\/config\.json\.moved-[0-9a-f]{8}\.\n$/,
    );
    expect((await run(['config', 'set', 'da.name', 'Kai'])).stderr).to.equal('');
    expect((await run(['config', 'get', 'sense.retentionDays'])).stdout).to.equal('60\n');
  });

  it('says that today keeps its zone once something was captured today', async () => {
    put('config.yaml', 'timezone: Asia/Tokyo\n');
    const day = (offset: number) => addDays(dayOf(Date.now(), 'Asia/Seoul'), offset);
    put('sense/state.json', JSON.stringify({ version: 1, zones: { [day(0)]: 'Asia/Tokyo', [day(1)]: 'Asia/Tokyo' } }));
    const told = async (...args: string[]) => (await run(['config', ...args])).stderr;
    expect(await told('set', 'timezone', 'Asia/Seoul', '--dry-run')).not.to.include('stays in');
    expect(await told('set', 'timezone', 'Asia/Seoul')).to.include(
      'Today ends at midnight in Asia/Seoul. Its record shows hours in Asia/Tokyo.',
    );
    expect(await told('set', 'timezone', 'Asia/Tokyo')).not.to.include('stays in');
    put('sense/state.json', JSON.stringify({ version: 1, zones: {} }));
    expect(await told('set', 'timezone', 'Asia/Seoul')).not.to.include('stays in');
  }); // prettier-ignore

  it('adds and removes list items, unsets a key, and prints a value for a script', async () => {
    const said = async (...args: string[]) => (await run(['config', ...args])).stdout;
    const site = join(home.path, 'site');
    mkdirSync(join(site, '.git'), { recursive: true });
    writeFileSync(join(site, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    const file = area('config.yaml');
    expect(await said('add', 'sense.repos', '~/site')).to.equal(`sense.repos is now ${site}, in ${file}\n`);
    expect(await said('add', 'sense.repos', site)).to.equal(
      `sense.repos already has this item: ${site}, in ${file}\n`,
    );
    expect(await said('get', 'sense.repos')).to.equal(`${site}\n`);
    expect(jsonOf(await run(['config', 'get', 'sense.repos', '--json']))).to.deep.equal({
      key: 'sense.repos',
      value: [site],
      source: 'file',
      from: file,
    });
    const nope = await run(['config', 'set', 'sense.repos', '~/nope']);
    expect([nope.code, nope.stderr]).to.deep.equal([
      2,
      '~/nope does not exist.\nNothing was written. Use the folder that contains .git.\n',
    ]);
    expect((await run(['config', 'remove', 'sense.repos', '/elsewhere'])).code).to.equal(5);
    expect(await said('remove', 'sense.repos', '~/site')).to.match(/^sense\.repos is now none \(was /);
    expect(await said('get', 'sense.repos')).to.equal('');
    await said('set', 'sense.retentionDays', '60');
    expect(await said('unset', 'sense.retentionDays')).to.equal(
      `sense.retentionDays is now 30 (was 60), in ${file}\n`,
    );
    expect(await said('unset', 'sense.retentionDays')).to.equal(
      `sense.retentionDays already has its default, 30, in ${file}\n`,
    );
  });

  it('exits 2 for an unknown key or an invalid value, and names valid ones', async () => {
    const unknown = await run(['config', 'set', 'sense.pollInterval', '60']);
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include('Did you mean sense.pollIntervalSec?');
    const wrong = await run(['config', 'set', 'sense.pollIntervalSec', '5']);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include('expected a whole number from 10 to 3600, found "5"');
    expect(existsSync(join(home.path, '.steward'))).to.equal(false);
  });

  it('exits 3 and lists every problem in the files', async () => {
    put('config.yaml', 'timezone: Mars\nda: [\n');
    put('sense/config.json', '{"enabled": "no", "pollIntervalSec": "x"}');
    const { code, stderr, stdout } = await run(['config', 'show']);
    expect([code, stdout]).to.deep.equal([3, '']);
    expect(stderr).to.match(/config\.yaml: line \d+, column \d+: /);
    expect(stderr).to.include('enabled: expected true or false, found "no"');
    expect(stderr).to.include('pollIntervalSec: expected a whole number');
  });

  it('reads nothing in the current folder', async () => {
    const cwd = join(home.path, 'project');
    const proof = join(home.path, 'executed');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')`;
    mkdirSync(join(cwd, '.config'), { recursive: true });
    writeFileSync(join(cwd, '.config', 'config.js'), code);
    writeFileSync(join(cwd, 'steward.config.js'), code);
    writeFileSync(join(cwd, 'config.yaml'), 'da: {name: EVIL}\n');
    put('config.yaml', 'timezone: UTC\n');
    expect(await shown('da.name', { cwd })).to.include({ value: 'DA' });
    expect(existsSync(proof)).to.equal(false);
  });
});
