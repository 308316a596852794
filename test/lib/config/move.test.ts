import { expect } from 'chai';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { changeConfig, updateConfig } from '../../../src/lib/config/write';
import { setConfig, shownConfig, unsetConfig } from '../../../src/lib/config/set';
import { loadConfig } from '../../../src/lib/config/load';
import { StewardError } from '../../../src/lib/errors';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

const OLD: Record<string, string> = {
  'config.yaml':
    '# mine\ntimezone: Asia/Tokyo # home\nsync: {folder: /x, engine: git, repo: ann/days, details: true}\n',
  'settings.json': '{"notifications": {"push": {"topic": "hush-1"}, "routing": {"error": ["chat"]}}}',
  'sense/config.json':
    '{\n  "version": 1,\n  "enabled": false,\n  "repos": ["/src/a"],\n  "git": {"authors": "all"}\n}\n',
  'work/config.yaml': '# lanes\nCAPTURE_PROMPT: whole # all of it\nPROJECT_PROPERTY: {blog: website}\n',
  'work/work_repo.json':
    '{"repo": "ann/work", "enabled": false, "privacy": {"verifiedPrivate": true, "repo": "ann/work", "repoId": 5}}',
};

describe('config: the files of earlier versions', () => {
  let at: TestArea;
  let told: string[];
  beforeEach(() => {
    at = testArea();
    told = [];
  });
  afterEach(() => at.remove());

  const deps = () => ({ ...at.deps, tell: (text: string) => void told.push(text) });
  const load = () => loadConfig({ area: at.area, env: {}, home: at.home });
  /** All values, secrets and state included, as text. */
  async function values(): Promise<string> {
    const { config } = await load();
    const secret = config.settings.notifications.push.topic.stored();
    return JSON.stringify([config, secret]);
  }
  const writeAll = (): void => {
    for (const [name, text] of Object.entries(OLD)) at.write(name, text);
  };
  const copiesOf = (name: string): string[] => {
    const path = join(at.area.root, name);
    return readdirSync(dirname(path))
      .map((file) => join(dirname(path), file))
      .filter((file) => file.startsWith(`${path}.moved-`));
  };

  it('are read where they are, and nothing is written', async () => {
    writeAll();
    const { config, origins, warnings } = await load();
    const { notifications } = config.settings;
    expect(warnings).to.deep.equal([]);
    expect([config.sense.enabled, config.sense.repos, config.sense.git.authors]).to.deep.equal([
      false,
      ['/src/a'],
      'all',
    ]);
    expect([notifications.routing.error, notifications.push.topic.stored()]).to.deep.equal([
      ['chat'],
      'hush-1',
    ]);
    expect([config.work.CAPTURE_PROMPT, config.work.PROJECT_PROPERTY]).to.deep.equal([
      'whole',
      { blog: 'website' },
    ]);
    expect([config.workRepo.repo, config.workRepo.enabled]).to.deep.equal(['ann/work', false]);
    expect(config.user.sync).to.deep.equal({ folder: '/x', engine: 'git', repo: 'ann/days', details: true });
    expect(origins.get('sense.enabled')).to.deep.equal({ from: 'file', path: at.area.sense.config });
    for (const [name, text] of Object.entries(OLD)) expect(at.read(name)).to.equal(text);
  });

  long('are moved once by the first change, with a copy of each, and this is said', async () => {
    writeAll();
    const before = await values();
    await changeConfig(deps(), [{ key: 'da.name', to: () => 'Nova' }]);
    expect(await values()).to.equal(before.replace('"name":"DA"', '"name":"Nova"'));
    for (const [name, text] of Object.entries(OLD)) {
      const copies = copiesOf(name);
      expect(copies, name).to.have.length(1);
      expect(readFileSync(copies[0] ?? '', 'utf8')).to.equal(text);
      expect(
        told.filter((line) => line.includes(`from ${name} to`) && line.includes(copies[0] ?? '')),
      ).to.have.length(1);
    }
    expect([at.area.sense.config, at.area.work.config].filter((path) => existsSync(path))).to.deep.equal([]);
    expect(at.area.sense.isSetUp).to.equal(true);
    const text = at.read('config.yaml');
    expect(text)
      .to.include('# mine')
      .and.to.include('timezone: Asia/Tokyo # home')
      .and.to.include('details: true');
    expect(text).to.not.include('folder').and.to.not.include('verifiedPrivate');
    expect(JSON.parse(at.read('state/sync.json'))).to.deep.equal({
      version: 1,
      sync: { folder: '/x', engine: 'git', repo: 'ann/days' },
    });
    expect(JSON.parse(at.read('work/work_repo.json'))).to.have.all.keys('privacy');
    told = [];
    await changeConfig(deps(), [{ key: 'da.name', to: () => 'Kai' }]);
    expect(told).to.deep.equal([]);
    expect(Object.keys(OLD).map((name) => copiesOf(name).length)).to.deep.equal([1, 1, 1, 1, 1]);
  });

  long('are moved at the start of the daemon too, and a dry run moves nothing', async () => {
    writeAll();
    const before = await values();
    await setConfig(deps(), { key: 'sense.retentionDays', value: '9', dryRun: true });
    for (const [name, text] of Object.entries(OLD)) expect(at.read(name)).to.equal(text);
    await updateConfig(deps());
    expect(told).to.have.length(5);
    expect(await values()).to.equal(before);
  });

  it('override config.yaml until they are moved, so that the kill switch of the specification works', async () => {
    at.write('config.yaml', 'sense: {enabled: true, retentionDays: 5}\n');
    at.write('sense/config.json', '{"enabled": false}');
    expect((await load()).config.sense).to.include({ enabled: false, retentionDays: 5 });
    await setConfig(deps(), { key: 'sense.enabled', value: 'true' });
    expect((await load()).config.sense.enabled).to.equal(true);
    at.write('sense/config.json', '{"enabled": false}');
    expect((await load()).config.sense.enabled).to.equal(false);
    await updateConfig(deps());
    expect((await load()).config.sense.enabled).to.equal(false);
    expect(copiesOf('sense/config.json')).to.have.length(1);
  });

  long(
    'of another program and links are read, never rewritten, and a change of their keys is refused',
    async function () {
      if (process.platform === 'win32') this.skip();
      const text = '{"theme": "dark", "notifications": {"chat": {"enabled": true}}}\n';
      const target = join(at.home, 'settings.json');
      for (const isLink of [false, true]) {
        if (isLink) {
          writeFileSync(target, text.replace('"theme": "dark", ', ''));
          symlinkSync(target, at.area.settings);
        } else at.write('settings.json', text);
        const read = (): string => readFileSync(at.area.settings, 'utf8');
        const before = read();
        await updateConfig(deps());
        await setConfig(deps(), { key: 'da.voices.main.voiceId', value: 'v1' });
        await setConfig(deps(), { key: 'notifications.push.topic', value: 'hush' });
        for (const change of [
          () => setConfig(deps(), { key: 'notifications.chat.enabled', value: 'false' }),
          () => unsetConfig(deps(), { key: 'notifications.chat.enabled' }),
        ]) {
          const error = await failure(change());
          expect(error).to.have.property('kind', 'config');
          expect(error.message).to.include(
            `${at.area.settings} ${isLink ? 'is a link' : 'has keys of another program'}, so steward does not change it`,
          );
        }
        const { notifications } = (await load()).config.settings;
        expect([notifications.chat.enabled, notifications.push.topic.stored()]).to.deep.equal([true, 'hush']);
        expect(read()).to.equal(before);
        expect(copiesOf('settings.json')).to.deep.equal([]);
        expect(lstatSync(at.area.settings).isSymbolicLink()).to.equal(isLink);
        at.remove();
        mkdirSync(at.area.root, { recursive: true, mode: 0o700 });
      }
      expect(told).to.deep.equal([]);
    },
  );

  long('that are damaged stay as they are, and the others are moved', async () => {
    for (const [name, broken] of [
      ['sense/config.json', '{"enabled": false'],
      ['sense/config.json', '{"enabled": "no", "retentionDays": 9}'],
      ['sense/config.json', '{"version": 2, "enabled": false}'],
      ['work/config.yaml', 'CAPTURE_PROMPT: "whole\n'],
      ['settings.json', '[]'],
    ] as const) {
      writeAll();
      at.write(name, broken);
      await setConfig(deps(), { key: 'da.name', value: 'Nova' });
      expect(at.read(name), broken).to.equal(broken);
      expect(copiesOf(name), broken).to.deep.equal([]);
      expect(told, broken).to.have.length(4);
      const key = { 'sense/config.json': 'sense.enabled', 'work/config.yaml': 'WORK.CAPTURE_PROMPT' }[
        name as string
      ];
      const error = await failure(unsetConfig(deps(), { key: key ?? 'notifications.chat.enabled' }));
      expect(error).to.have.property('kind', 'config');
      expect(error.message).to.include(join(at.area.root, name));
      at.remove();
      told = [];
    }
  });

  long('that are written while a change runs again give the same configuration', async () => {
    writeAll();
    await updateConfig(deps());
    const once = shownConfig(await load()).map(({ key, value }) => [key, value]);
    writeAll();
    await updateConfig(deps());
    expect(shownConfig(await load()).map(({ key, value }) => [key, value])).to.deep.equal(once);
    expect(copiesOf('settings.json')).to.have.length(1);
  });
});

async function failure(change: Promise<unknown>): Promise<StewardError> {
  const error = await change.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(StewardError);
  return error as StewardError;
}
