import { expect } from 'chai';
import fc from 'fast-check';
import { execFile } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { commands } from '../../../oclif.manifest.json';
import { loadConfig } from '../../../src/lib/config/load';
import { allKeys } from '../../../src/lib/config/files';
import {
  addToConfig,
  removeFromConfig,
  setConfig,
  unsetConfig,
  plainValue,
  shownConfig,
  shownKey,
  valueWords,
} from '../../../src/lib/config/set';
import { changeConfig, updateConfig } from '../../../src/lib/config/write';
import { StewardError } from '../../../src/lib/errors';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

describe('config: setConfig', () => {
  let at: TestArea;
  beforeEach(() => (at = testArea()));
  afterEach(() => at.remove());

  const set = (key: string, value: string) => setConfig(at.deps, { key, value });
  const shown = async (key: string) => {
    const loaded = await loadConfig({ area: at.area, env: {}, home: at.home });
    return shownConfig(loaded).find((entry) => entry.key === key)?.value;
  };

  const deps = () => ({ ...at.deps, home: at.home });
  const refused = (key: string, value: string, kind: string) => fails(set(key, value), kind);

  it('writes every setting into config.yaml, private, and made on demand', async () => {
    const result = await set('sense.pollIntervalSec', '60');
    expect(result).to.deep.equal({
      key: 'sense.pollIntervalSec',
      file: at.area.config,
      before: null,
      after: 60,
      changed: true,
      dryRun: false,
      overriddenBy: null,
    });
    await set('timezone', 'Asia/Tokyo');
    await set('notifications.thresholds.longTaskMinutes', '9');
    expect(at.read('config.yaml')).to.equal(
      'version: 1\nsense:\n  pollIntervalSec: 60\ntimezone: Asia/Tokyo\nnotifications:\n  thresholds:\n    longTaskMinutes: 9\n',
    );
    expect([at.area.settings, at.area.sense.config].filter((path) => existsSync(path))).to.deep.equal([]);
    if (process.platform === 'win32') return;
    expect(statSync(at.area.root).mode & 0o777).to.equal(0o700);
    expect(statSync(at.area.config).mode & 0o777).to.equal(0o600);
  });

  long('reads a value as JSON, as a text or as a list, whichever fits the key', async () => {
    const cases: [string, string, unknown][] = [
      ['sessions.titles', 'on', true],
      ['sessions.titles', 'off', false],
      ['sense.enabled', 'false', false],
      ['sense.repos', `${at.repository('a')}, ${at.repository('b')}`, ['a', 'b'].map(at.repository)],
      ['sense.repos', JSON.stringify([at.repository('with, comma')]), [at.repository('with, comma')]],
      ['sense.repos', '', []],
      ['sense.exclude', '5', ['5']],
      ['sense.exclude', 'site:docs.rs,site:*.org', ['site:docs.rs', 'site:*.org']],
      ['sense.exclude', 'site:Müller.de,site:other sites', ['site:xn--mller-kva.de', 'site:other sites']],
      ['sense.git.authors', 'all', 'all'],
      ['sense.git.authors', 'a@x.org,b@x.org', ['a@x.org', 'b@x.org']],
      ['principal.name', '42', '42'],
      ['principal.name', '"Ann"', 'Ann'],
      ['notifications.routing.error', 'push,chat', ['push', 'chat']],
      ['notify.quietHours', '22:00-07:00', '22:00-07:00'],
      ['notify.quietHours', '22:00-7:00', '22:00-7:00'],
    ];
    for (const [key, value, expected] of cases) {
      await set(key, value);
      expect(await shown(key), `${key} ${value}`).to.deep.equal(expected);
    }
  });

  it('refuses what does not fit as usage, says what was expected, and writes nothing', async () => {
    const cases: [string, string][] = [
      ['sense.pollIntervalSec', '5'],
      ['sense.pollIntervalSec', '60.5'],
      ['sense.enabled', 'yes'],
      ['sense.repos', 'src'],
      ['sense.git.authors', 'some'],
      ['timezone', 'Mars/Base'],
      ['timezone', '+02:00'],
      ['notify.quietHours', '22:00-22:00'],
      ['notify.quietHours', '7:00-07:00'],
      ['notify.quietHours', '24:00-07:00'],
      ['daemon.host', 'localhost:80'],
      ['agents.managed.url', 'http://example.org'],
      ['agents.managed.url', 'https://user:pw@example.org'],
      ['notifications.push.server', 'ftp://push.example.org'],
      ['notifications.chat.webhook', 'http://example.org/hook'],
      ['notifications.chat.webhook', 'env:not a name'],
      ['notifications.routing.error', 'push,fax'],
      ['principal.name', 'two\nlines'],
      ['sense.repos', 'exchange'],
      ['user.emails', 'nobody'],
      ['sense.exclude', 'site:https://docs.rs'],
      ['sense.exclude', 'Code,site:localhost'],
      ['sense.exclude', 'site:'],
      ['sense.exclude', 'site:müller.de/x'],
    ];
    for (const [key, value] of cases) {
      const { message } = await refused(key, value, 'usage');
      expect(message, `${key} ${value}`)
        .to.match(/: expected .+, found .+\.$/s)
        .and.to.include(key);
    }
    expect(existsSync(at.area.root)).to.equal(false);
  });

  it('knows which key was meant', async () => {
    expect((await refused('pollIntervalSec', '60', 'usage')).hint).to.include(
      'Did you mean sense.pollIntervalSec?',
    );
    expect((await refused('retentionDays', '5', 'usage')).hint).to.include(
      'Did you mean sense.retentionDays?',
    );
    expect((await refused('sense.polIntervalSec', '60', 'usage')).hint).to.include(
      'Did you mean sense.pollIntervalSec?',
    );
    expect((await refused('zzzzzzzzzz', '60', 'usage')).hint).to.not.include('Did you mean');
    expect((await refused('sense.sources', '{}', 'usage')).hint).to.include('sense.sources.git');
    for (const key of [
      '',
      '.',
      'sense',
      '__proto__',
      'constructor',
      'sense.__proto__',
      'version',
      'sense.version',
    ]) {
      await refused(key, '1', 'usage');
    }
  });

  long('changes in YAML only the value itself: comments, order, quotes and odd spacing stay', async () => {
    const before = [
      '# Mine',
      'da:      # the assistant',
      "    name:   'Nova'   # short",
      '',
      '',
      '    voices: { main: {voiceId: "abc"} }',
      'timezone:    UTC# no comment',
      'paths:',
      '    # goals: ~/elsewhere.md',
      '    sessions: /s',
      '# end',
      '',
    ].join('\n');
    at.write('config.yaml', before.replace('UTC# no comment', 'UTC # a comment'));
    const text = at.read('config.yaml');
    await set('da.name', "O'Hara");
    expect(at.read('config.yaml')).to.equal(text.replace("'Nova'", "'O''Hara'"));
    await set('da.name', 'Nova');
    await set('da.voices.main.voiceId', 'xyz');
    expect(at.read('config.yaml')).to.equal(text.replace('"abc"', '"xyz"'));
    await set('da.voices.main.voiceId', 'abc');
    await set('timezone', 'Asia/Tokyo');
    expect(at.read('config.yaml')).to.equal(text.replace('UTC #', 'Asia/Tokyo #'));
    await set('timezone', 'UTC');
  });

  it('adds a key to YAML after those of its section, and keeps comments, order and quotes', async () => {
    const text =
      "# Mine\nda:   # the assistant\n    name:   'Nova'   # short\nnotify:\n    turnEnd: never\n# end\n";
    at.write('config.yaml', text);
    await set('notify.quietHours', '22:00-07:00');
    const lines = at
      .read('config.yaml')
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.map((line) => line.trim())).to.deep.equal([
      '# Mine',
      'da:',
      '# the assistant',
      "name: 'Nova' # short",
      'notify:',
      'turnEnd: never',
      'quietHours: 22:00-07:00',
      '# end',
    ]);
  });

  it('adds to YAML that ends without a line break, has Windows line breaks, or holds only comments', async () => {
    at.write('config.yaml', 'timezone: UTC');
    await set('da.name', 'Nova');
    expect(at.read('config.yaml')).to.equal('timezone: UTC\nda:\n  name: Nova\n');
    at.write('config.yaml', '# a\r\nda:\r\n  # name: x\r\ntimezone: UTC\r\n');
    await set('da.name', 'Nova');
    expect(at.read('config.yaml')).to.equal('# a\r\nda:\r\n  # name: x\r\n  name: Nova\r\ntimezone: UTC\r\n');
    at.write('config.yaml', '# timezone: UTC\n');
    await set('timezone', 'UTC');
    expect(at.read('config.yaml')).to.equal('# timezone: UTC\ntimezone: UTC\n');
    at.write('config.yaml', '{"da": {"name": "x"}}\n');
    await set('timezone', 'UTC');
    expect(at.read('config.yaml')).to.match(/^\{.*"?timezone"?: "?UTC"?.*\}\n$/s);
    expect(await shown('da.name')).to.equal('x');
  });

  it('writes a block list anew and keeps the comments around it', async () => {
    at.write(
      'config.yaml',
      '# top\nnotify:\n  smsCommand: # how\n    - sms\n    - --now\n# end\ntimezone: UTC # here\n',
    );
    await set('notify.smsCommand', 'text,me');
    const text = at.read('config.yaml');
    for (const comment of ['# top', '# end', '# here']) expect(text).to.include(comment);
    expect(await shown('notify.smsCommand')).to.deep.equal(['text', 'me']);
    expect(await shown('timezone')).to.equal('UTC');
  });

  it('leaves a file alone in which an alias would carry the change elsewhere', async () => {
    const text = 'da: &x {name: a}\nprincipal: *x\n';
    at.write('config.yaml', text);
    await refused('principal.name', 'Ann', 'config');
    expect(at.read('config.yaml')).to.equal(text);
  });

  it('keeps a space at the end of a value that is not ASCII, and the comments beside it', async () => {
    at.write('config.yaml', 'principal: # c1\n');
    await changeConfig(at.deps, [{ key: 'principal.name', to: () => '^\u00a0' }]);
    expect(await shown('principal.name')).to.equal('^\u00a0');
    expect(at.read('config.yaml')).to.include('# c1');
  });

  long('loads again what it set, whatever the file looked like, and keeps every comment', async () => {
    const name = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).filter(isName);
    const texts = fc.constantFrom(
      '',
      '# c0\n',
      'da: {name: x} # c1\n',
      'da:\n    # c2\n    name: "x" # c3\n\n\nprincipal:\n    name: y\n# c4\n',
      'principal:\n# c5\n  name: |-\n    y\n# c6\ntimezone: UTC\n',
      'da: # c7\n  voices:\n    main:\n      voiceId: v\n    # c8\n# c9\nprincipal: # c10\n',
      '# c11\r\ntimezone: UTC # c12\r\n',
      'principal:\n  name: >-\n    folded\n    text\n  # c13\n  email: a@b.c',
    );
    const key = fc.constantFrom('da.name', 'principal.name');
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(fc.tuple(key, name), { minLength: 1, maxLength: 4 }),
        async (text, sets) => {
          at.write('config.yaml', text);
          const meant = new Map<string, string>();
          for (const [which, value] of sets) {
            await changeConfig(at.deps, [{ key: which, to: () => value }]);
            meant.set(which, value);
          }
          for (const [which, value] of meant) expect(await shown(which)).to.equal(value);
          const after = at.read('config.yaml');
          for (const [comment] of text.matchAll(/# c\d+/g)) expect(after).to.include(comment);
          expect(/(?<!\r)\n/.test(after) && after.includes('\r\n'), 'mixed line breaks').to.equal(false);
        },
      ),
      { numRuns: 50 },
    );
  });

  long('loses neither of two keys that two processes set at once', async function () {
    this.timeout(60_000);
    const root = resolve(__dirname, '..', '..', '..');
    const script = join(at.home, 'set.cjs');
    writeFileSync(
      script,
      `require(${JSON.stringify(join(root, 'node_modules', 'tsx', 'dist', 'cjs', 'index.cjs'))});
      const { setConfig } = require(${JSON.stringify(join(root, 'src/lib/config/set.ts'))});
      const { userArea } = require(${JSON.stringify(join(root, 'src/lib/config/user-area.ts'))});
      const { systemClock } = require(${JSON.stringify(join(root, 'src/lib/platform/time/clock.ts'))});
      const deps = { area: userArea(), clock: systemClock(), machineId: '0123456789ab', env: {} };
      (async () => {
        for (let n = 0; n < 20; n++) await setConfig(deps, { key: process.argv[2], value: String(100 + n) });
      })();`,
    );
    const env = {
      ...process.env,
      HOME: at.home,
      STEWARD_HOME: at.area.root,
      XDG_STATE_HOME: join(at.home, 'state'),
    };
    const keys = ['sense.pollIntervalSec', 'sense.retentionDays', 'sense.idleAfterSec'];
    await Promise.all(keys.map((key) => promisify(execFile)(process.execPath, [script, key], { env })));
    const { config } = await loadConfig({ area: at.area, env: {}, home: at.home });
    const { pollIntervalSec, retentionDays, idleAfterSec } = config.sense;
    expect([pollIntervalSec, retentionDays, idleAfterSec]).to.deep.equal([119, 119, 119]);
  });

  it('writes through an own link, and not through one at sense/config.json', async function () {
    if (process.platform === 'win32') this.skip();
    const target = join(at.home, 'dotfiles.yaml');
    writeFileSync(target, 'timezone: UTC # mine\n');
    at.write('sense/state.json', '{}');
    symlinkSync(target, at.area.config);
    symlinkSync(target, at.area.sense.config);
    await set('timezone', 'Asia/Tokyo');
    expect(readFileSync(target, 'utf8')).to.equal('timezone: Asia/Tokyo # mine\n');
    expect(lstatSync(at.area.config).isSymbolicLink()).to.equal(true);
    await refused('sense.enabled', 'false', 'config');
  });

  it('leaves a newer file, and one that does not parse, as they are', async () => {
    for (const text of ['version: 2\ntimezone: UTC\n', 'timezone: "UTC\n', '- 1\n', 'version: x\n']) {
      at.write('config.yaml', text);
      await refused('timezone', 'Asia/Tokyo', 'config');
      expect(at.read('config.yaml')).to.equal(text);
    }
  });

  it('repairs a value of a wrong type', async () => {
    at.write('config.yaml', 'sense: {enabled: "no", pollIntervalSec: "1"}\n');
    await set('sense.enabled', 'false');
    await set('sense.pollIntervalSec', '60');
    expect([await shown('sense.enabled'), await shown('sense.pollIntervalSec')]).to.deep.equal([false, 60]);
  });

  it('mirrors the voice into settings.json, from either side, and at the start of the daemon', async () => {
    const mirrored = () => JSON.parse(at.read('settings.json')).daidentity.voices.main.voiceId as string;
    await set('da.voices.main.voiceId', 'v1');
    expect(mirrored()).to.equal('v1');
    await set('daidentity.voices.main.voiceId', 'v2');
    expect([await shown('da.voices.main.voiceId'), mirrored()]).to.deep.equal(['v2', 'v2']);
    at.write('config.yaml', at.read('config.yaml').replace('v2', 'v3'));
    await updateConfig(at.deps);
    expect(mirrored()).to.equal('v3');
  });

  it('writes nothing in a dry run, and says what it would', async () => {
    const result = await setConfig(at.deps, { key: 'da.voices.main.voiceId', value: 'v', dryRun: true });
    expect(result).to.include({ before: null, after: 'v', changed: true, dryRun: true });
    expect(existsSync(at.area.root)).to.equal(false);
    expect(existsSync(at.area.machine)).to.equal(false);
  });

  it('says when a variable stands over what was set', async () => {
    const deps = { ...at.deps, env: { STEWARD_TIMEZONE: 'UTC' } };
    expect(await setConfig(deps, { key: 'timezone', value: 'Asia/Tokyo' })).to.include({
      overriddenBy: 'STEWARD_TIMEZONE',
    });
  });

  it('gives back and shows a secret only as set', async () => {
    await set('notifications.push.topic', 'hush-1');
    const again = await set('notifications.push.topic', 'hush-2');
    expect(JSON.stringify(again)).to.not.include('hush');
    expect(again.changed).to.equal(true);
    expect(await shown('notifications.push.topic')).to.equal('•••• (set)');
    expect(await shown('notifications.chat.webhook')).to.equal(null);
    expect((await refused('notifications.push.topic', 'hush 3', 'usage')).message).to.not.include('hush');
  });

  it('touches no file when nothing changes', async () => {
    at.write('config.yaml', 'sense: { enabled:   true }\n');
    expect(await set('sense.enabled', 'true')).to.include({ changed: false });
    expect(at.read('config.yaml')).to.equal('sense: { enabled:   true }\n');
  });

  it('takes no repository that is not there into the list, and leaves the list as it was', async () => {
    const notes = at.repository('notes');
    mkdirSync(join(at.home, 'plain'));
    await set('sense.repos', notes);
    for (const [path, why] of [
      ['nope', 'does not exist'],
      ['plain', 'is not a git repository'],
    ]) {
      const value = join(at.home, path!);
      expect((await refused('sense.repos', `${notes},${value}`, 'usage')).message).to.include(
        `${value} ${why}`,
      );
      await fails(addToConfig(deps(), { key: 'sense.repos', value }), 'usage');
    }
    await fails(addToConfig(deps(), { key: 'sense.repos', value: '~/nope' }), 'usage');
    expect(await shown('sense.repos')).to.deep.equal([notes]);
    // One that was unplugged later does not get in the way of another change.
    rmSync(notes, { recursive: true });
    await set('sense.repos', `${notes},${at.repository('site')}`);
    expect(await shown('sense.repos')).to.deep.equal([notes, join(at.home, 'site')]);
  });

  it('adds an item to a list once, by its whole path, and removes it by any spelling', async () => {
    const [notes, site] = ['notes', 'site'].map(at.repository) as [string, string];
    const add = (value: string) => addToConfig(deps(), { key: 'sense.repos', value });
    expect(await add(notes)).to.deep.include({ before: null, after: [notes], changed: true });
    expect(await add('~/site')).to.deep.include({ after: [notes, site], changed: true });
    expect(await add('~/notes')).to.deep.include({ after: [notes, site], changed: false });
    const remove = (value: string) => removeFromConfig(deps(), { key: 'sense.repos', value });
    expect(await remove('~/notes')).to.deep.include({ before: [notes, site], after: [site] });
    const error = await fails(remove('~/notes'), 'not_found');
    expect([error.message, error.hint]).to.deep.equal([
      `${notes} is not in sense.repos.`,
      `Its items: ${site}.`,
    ]);
  });

  it('starts from the default of a list, and says which key is no list', async () => {
    const key = 'notifications.routing.longTask';
    expect(await addToConfig(deps(), { key, value: 'push' })).to.include({ changed: false });
    expect(existsSync(at.area.settings)).to.equal(false);
    await addToConfig(deps(), { key, value: 'desktop' });
    expect(await shown(key)).to.deep.equal(['push', 'desktop']);
    for (const [other, value] of [
      ['timezone', 'UTC'],
      ['notify.turnEnd', 'never'],
      ['notifications.push.topic', 'x'],
      ['sense.git.authors', 'a@x.org'],
      ['WORK.PROJECT_PROPERTY', 'x'],
      [key, 'fax'],
      [key, ''],
    ]) {
      await fails(addToConfig(deps(), { key: other!, value: value! }), 'usage');
    }
  });

  it('refuses to add items to a command or to budgets, or to remove them', async () => {
    const takes = {
      'sense.insight.command': 'a program',
      'notify.smsCommand': '["claude"',
      'usage.budgets': 'usd',
    };
    for (const [key, part] of Object.entries(takes))
      for (const change of [addToConfig, removeFromConfig]) {
        const { message, hint } = await fails(change(deps(), { key, value: '--print' }), 'usage');
        expect(message).to.equal(`${key} can only be set as a whole.`);
        expect(hint).to.include(`"steward config set ${key} VALUE"`).and.include(part);
      }
    expect(existsSync(at.area.sense.config)).to.equal(false);
  });

  it('says which budget is wrong, and what is wrong with it', async () => {
    const valid = '{"per": "day", "usd": 5}';
    const wrong = {
      '{"per": "year", "usd": 5}': '[1].per: expected session, day, week or month, found "year"',
      '{"usd": 5}': '[1].per: expected session, day, week or month, found nothing',
      '{"per": "day", "usd": "5"}': '[1].usd: expected an amount of at least 0.01, found "5"',
      '{"per": "day", "usd": 0.001}': '[1].usd: expected an amount of at least 0.01, found 0.001',
      '{"per": "day", "tokens": 0}': '[1].tokens: expected a whole number above 0, found 0',
      '{"per": "day", "usd": 5, "tokens": 5}': '[1]: expected either usd or tokens, found key-value pairs',
      '{"per": "day"}': '[1]: expected either usd or tokens, found key-value pairs',
      '{"per": "day", "usd": 5, "issue": "12"}': '[1].issue: expected an issue, such as "#12", found "12"',
      '{"per": "day", "usd": 5, "repo": 5}': '[1].repo: expected the name of a repository, found 5',
      '{"per": "day", "dollars": 5}':
        '[1].dollars: expected a budget with the keys per, usd, tokens, repo and issue only, found 5',
      '{"per": "day", "usd": 5, "issue": "shop #12"}':
        '[1].issue: expected an issue, such as "#12", found "shop #12"',
      '{"per": "day", "usd": 5, "repo": " "}': '[1].repo: expected the name of a repository, found " "',
      '{"per": "day", "usd": 5, "repo": "~/shop"}':
        '[1].repo: expected the name of a repository, found "~/shop"',
      '5': '[1]: expected a budget with the keys per, usd, tokens, repo and issue only, found 5',
    };
    for (const [budget, message] of Object.entries(wrong)) {
      const value = `[${valid}, ${budget}]`;
      const failed = await fails(setConfig(deps(), { key: 'usage.budgets', value }), 'usage');
      expect(failed.message, budget).to.equal(`usage.budgets${message}.`);
    }
    const { message } = await fails(setConfig(deps(), { key: 'usage.budgets', value: valid }), 'usage');
    expect(message)
      .to.include('usage.budgets: expected a list of budgets')
      .and.include('found key-value pairs');
    // A branch such as 12-login names the issue of a repository.
    const value = `[${valid}, {"per": "day", "usd": 5, "issue": "my shop#12"}]`;
    expect((await setConfig(deps(), { key: 'usage.budgets', value })).changed).to.equal(true);
  });

  it('says which price is wrong, and what is wrong with it', async () => {
    const amount = 'expected USD per million tokens, from 0 to 10000';
    const keys = 'expected a price with the keys';
    const wrong = {
      '{"input": 1}': `.output: ${amount}, found nothing`,
      '{"input": "1", "output": 2}': `.input: ${amount}, found "1"`,
      '{"input": 1, "output": -2}': `.output: ${amount}, found -2`,
      '{"input": 1, "output": 2, "cacheread": 3}': `.cacheread: ${keys}`,
      '5': `: ${keys}`,
    };
    for (const [price, message] of Object.entries(wrong)) {
      const value = `{"gpt-6": {"input": 1, "output": 2}, "gpt-7": ${price}}`;
      const failed = await fails(setConfig(deps(), { key: 'usage.prices', value }), 'usage');
      expect(failed.message, price).to.include(`usage.prices.gpt-7${message}`);
    }
    const price = '{"input": 1, "output": 2}';
    for (const value of ['[]', `[${price}]`, `{"": ${price}}`, `{" ": ${price}}`]) {
      const { message } = await fails(setConfig(deps(), { key: 'usage.prices', value }), 'usage');
      expect(message, value).to.include('usage.prices: expected models with prices');
    }
  });

  it('keeps the comments of the items that stay in a YAML list', async () => {
    const text =
      'agents:\n  types:\n    researchers:\n      - a # fast\n      # always\n      - b\ntimezone: UTC # end\n';
    at.write('config.yaml', text);
    const key = 'agents.types.researchers';
    await addToConfig(deps(), { key, value: 'c' });
    expect(at.read('config.yaml')).to.equal(text.replace('timezone', '      - c\ntimezone'));
    await removeFromConfig(deps(), { key, value: 'c' });
    expect(at.read('config.yaml')).to.equal(text);
  });

  it('unsets a key: its lines go, its default counts, and each comment stays', async () => {
    const unset = (key: string) => unsetConfig(deps(), { key });
    at.write('config.yaml', '# top\nda:\n  # who\n  name: Nova # short\ntimezone: UTC # here\n# end\n');
    expect(await unset('da.name')).to.deep.include({ before: 'Nova', after: 'DA', changed: true });
    expect(at.read('config.yaml')).to.equal('# top\n# who\n# short\ntimezone: UTC # here\n\n# end\n');
    expect(await unset('da.name')).to.include({ changed: false });
    await set('da.name', 'Nova');
    expect(await shown('da.name')).to.equal('Nova');
    await set('notifications.routing.error', 'chat');
    await unset('notifications.routing.error');
    expect(at.read('config.yaml')).to.not.include('notifications');
    expect(await shown('notifications.routing.error')).to.deep.equal(['push']);
  });

  it('unsets the voice in both of its places', async () => {
    await set('da.voices.main.voiceId', 'v1');
    await unsetConfig(deps(), { key: 'da.voices.main.voiceId' });
    expect([await shown('da.voices.main.voiceId'), at.read('settings.json')]).to.deep.equal([
      null,
      '{\n  "version": 1\n}\n',
    ]);
  });

  it('leaves an empty file where the only key is unset', async () => {
    at.write('config.yaml', 'principal: {name: C}\n');
    await unsetConfig(deps(), { key: 'principal.name' });
    expect(at.read('config.yaml')).to.equal('');
  });

  long('unsets in YAML of any form, and keeps every other value and comment', async () => {
    const texts = [
      'da: {name: x} # c1\nprincipal: {name: y} # c2\n',
      '{"da": {"name": "x"}, "principal": {"name": "y"}}\n',
      'da:\n  name: >- # c3\n    folded\n    text\n  # c4\nprincipal:\n  name: y',
      'principal:\n  name: y\nda:\n\n    # c5\n    name: x # c6\r\n',
      '# c7\r\nda:\r\n  name: "x" # c8\r\nprincipal: # c9\r\n  name: y\r\n',
    ];
    for (const text of texts) {
      at.write('config.yaml', text);
      await unsetConfig(deps(), { key: 'da.name' });
      expect([await shown('da.name'), await shown('principal.name')], text).to.deep.equal(['DA', 'y']);
      const after = at.read('config.yaml');
      for (const [comment] of text.matchAll(/# c\d+/g)) expect(after).to.include(comment);
    }
  });

  it('gives one key for a script, and refuses what is none', async () => {
    const loaded = await loadConfig({ area: at.area, env: {}, home: at.home });
    expect(await shownKey(loaded, 'sense.retentionDays')).to.deep.include({ value: 30, source: 'default' });
    expect((await shownKey(loaded, 'WORK.REPO')).value).to.equal(null);
    await fails(shownKey(loaded, 'retentionDay'), 'usage');
    expect([['a', 'b'], [], null, { a: 1 }, true].map(plainValue)).to.deep.equal([
      'a\nb',
      '',
      '',
      '{"a":1}',
      'true',
    ]);
  });

  it('shows the command of a read that would run, by default and for an empty list', async () => {
    const before = await shown('sense.insight.command');
    expect(plainValue(before)).to.match(/^claude\n--print\n/);
    expect(valueWords([{ per: 'day', usd: 5 }])).to.equal('{"per":"day","usd":5}');
    expect(valueWords(before)).to.match(/^claude, --print, --model, haiku, --tools, "", /);
    await set('sense.insight.command', '[]');
    expect(await shown('sense.insight.command')).to.deep.equal(before);
    const other = ['claude', '--print', '--tools', ''];
    await set('sense.insight.command', JSON.stringify(other));
    expect(await shown('sense.insight.command')).to.deep.equal(other);
  });

  it('can set every key that show lists, and not the state that steward writes', async () => {
    const listed = shownConfig(await loadConfig({ area: at.area, env: {}, home: at.home })).map(
      ({ key }) => key,
    );
    expect(listed).to.deep.equal(allKeys());
    expect(new Set(listed).size).to.equal(listed.length);
    expect((await refused('notifications.telegram.server', 'x.org', 'usage')).hint).to.equal(
      'Set the environment variable STEWARD_TELEGRAM_SERVER.',
    );
    for (const key of ['sync.folder', 'sync.engine', 'WORK.privacy']) {
      const { hint = '' } = await refused(key, 'true', 'usage');
      const command = /^"steward ([a-z ]+)" writes it/.exec(hint)?.[1] ?? hint;
      expect(Object.keys(commands), key).to.include(command.replaceAll(' ', ':'));
    }
  });
});

async function fails(change: Promise<unknown>, kind: string): Promise<StewardError> {
  const error = await change.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(StewardError).with.property('kind', kind);
  return error as StewardError;
}

function isName(text: string): boolean {
  return text.trim() !== '' && !/[\p{Cc}\u2028\u2029]/u.test(text);
}
