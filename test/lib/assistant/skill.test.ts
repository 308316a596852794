import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';

import { claudeCode } from '../../../src/lib/assistant/claude-code';
import { installHooks, type HooksInstalled } from '../../../src/lib/assistant/install';
import type { HookInstallDeps } from '../../../src/lib/assistant/install-deps';
import type { HooksUninstalled } from '../../../src/lib/assistant/uninstall';
import { userArea } from '../../../src/lib/config/user-area';
import { workflowExists } from '../../../src/lib/notify/announce';
import { scratch } from '../../helpers/scratch';
import { uninstallHooks } from '../../helpers/uninstall-hooks';

const ROOT = resolve(__dirname, '..', '..', '..');
const TEMPLATES = join(ROOT, 'templates', 'skills', 'work');
const FILES = [
  'SKILL.md',
  ...['AddReminder', 'CheckTasks', 'CreateIssue', 'UpdateTaskList'].map((name) =>
    join('Workflows', `${name}.md`),
  ),
];

describe('assistant: the work skill', () => {
  const box = scratch();
  const skill = (...names: string[]): string => box.path('.claude', 'skills', 'work', ...names);
  const manifest = (): string => box.path('.steward', 'state', 'install-manifest.json');

  function deps(root = ROOT): HookInstallDeps {
    const host = { platform: process.platform, env: {}, home: box.path() };
    return {
      area: userArea(host),
      clock: { now: () => Date.parse('2026-11-20T10:00:00Z'), monotonic: () => performance.now() },
      machineId: '0123456789ab',
      host,
      product: { root, node: process.execPath },
    };
  }
  const install = (
    more: { skill?: boolean; dryRun?: boolean; root?: string } = {},
  ): Promise<HooksInstalled> =>
    installHooks(deps(more.root), {
      assistant: claudeCode,
      dryRun: more.dryRun ?? false,
      skill: more.skill ?? true,
    });
  const uninstall = (dryRun = false): Promise<HooksUninstalled> =>
    uninstallHooks(deps(), { assistant: claudeCode, dryRun });
  const files = (): string[] =>
    existsSync(skill())
      ? readdirSync(skill(), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.md'))
          .sort()
      : [];

  it('is written when it is asked for, and taken back without a trace', async () => {
    expect((await install({ skill: false })).skill).to.equal(null);
    expect(existsSync(dirname(skill()))).to.equal(false);
    const dry = await install({ dryRun: true });
    expect([dry.skill?.changed.length, existsSync(dirname(skill()))]).to.deep.equal([5, false]);
    expect((await install()).skill).to.deep.include({ path: skill(), left: [] });
    expect(files()).to.deep.equal(FILES);
    for (const name of FILES) {
      expect(readFileSync(skill(name), 'utf8')).to.equal(readFileSync(join(TEMPLATES, name), 'utf8'));
    }
    expect((await install()).skill).to.deep.include({ changed: [], left: [] });
    expect((await uninstall(true)).skill.changed).to.have.length(5);
    expect(files()).to.deep.equal(FILES);
    expect(await uninstall()).to.deep.include({ left: [] });
    expect([existsSync(box.path('.claude')), existsSync(manifest())]).to.deep.equal([false, false]);
  });

  it('leaves what somebody else wrote, and what was changed since, and says so', async () => {
    mkdirSync(skill('Workflows'), { recursive: true });
    writeFileSync(skill('SKILL.md'), 'mine');
    expect((await install()).skill).to.deep.include({ left: [skill('SKILL.md')] });
    const edited = skill('Workflows', 'CheckTasks.md');
    writeFileSync(edited, `${readFileSync(edited, 'utf8')}\nAnd mine.\n`);
    expect((await install()).skill?.left).to.deep.equal([skill('SKILL.md'), edited]);
    expect((await uninstall()).left).to.deep.equal([edited]);
    expect(files()).to.deep.equal(['SKILL.md', join('Workflows', 'CheckTasks.md')]);
    expect(readFileSync(skill('SKILL.md'), 'utf8')).to.equal('mine');
    // From now on it is the person's: no later uninstall speaks of it.
    expect((await uninstall()).left).to.deep.equal([]);
    expect(existsSync(manifest())).to.equal(false);
  });

  it('follows no link in place of a file, and keeps the folder that a link leads to', async function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(box.path('dotfiles', 'work', 'Workflows'), { recursive: true });
    mkdirSync(box.path('.claude'));
    symlinkSync(box.path('dotfiles'), box.path('.claude', 'skills'));
    writeFileSync(box.path('elsewhere'), 'theirs');
    symlinkSync(box.path('elsewhere'), skill('SKILL.md'));
    expect((await install()).skill?.left).to.deep.equal([skill('SKILL.md')]);
    await uninstall();
    expect(readFileSync(box.path('elsewhere'), 'utf8')).to.equal('theirs');
    expect(readdirSync(box.path('dotfiles', 'work'), { recursive: true })).to.have.members([
      'SKILL.md',
      'Workflows',
    ]);
  });

  it('is brought up to date by a later version where it was not changed', async () => {
    await install();
    const later = box.path('later');
    for (const name of FILES) {
      mkdirSync(dirname(join(later, 'templates', 'skills', 'work', name)), { recursive: true });
      writeFileSync(join(later, 'templates', 'skills', 'work', name), `later ${name}`);
    }
    cpSync(join(ROOT, 'templates', 'launcher'), join(later, 'templates', 'launcher'), { recursive: true });
    writeFileSync(skill('Workflows', 'AddReminder.md'), 'mine');
    const result = (await install({ root: later })).skill;
    expect([result?.changed.length, result?.left]).to.deep.equal([4, [skill('Workflows', 'AddReminder.md')]]);
    expect(readFileSync(skill('SKILL.md'), 'utf8')).to.equal('later SKILL.md');
    await uninstall();
    expect(files()).to.deep.equal([join('Workflows', 'AddReminder.md')]);
  });

  it('has the workflows that are announced, and a head that the assistant reads', async () => {
    await install();
    const skills = dirname(skill());
    const text = readFileSync(skill('SKILL.md'), 'utf8');
    expect(text).to.match(/^---\nname: work\ndescription: .{80,1000}\n---\n/);
    for (const name of ['CheckTasks', 'AddReminder', 'CreateIssue', 'UpdateTaskList']) {
      expect(workflowExists(skills, 'work', name), name).to.equal(true);
      expect(text).to.include(`(Workflows/${name}.md)`);
    }
  });
});
