import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseProjects, type Goal } from '../../../src/lib/goals/record';
import { sessionAt } from '../../../src/lib/work/capture/session';
import { sweep, type SweepDeps, type SweepOptions } from '../../../src/lib/work/sweep';
import type { SweepResult } from '../../../src/lib/work/sweep-log';
import type { ProjectState } from '../../../src/lib/work/sweep-plan';
import { startGitHub, type GitHub } from '../../helpers/github';
import { captureOf, capturesLogged, readyWorld, type WorkWorld } from '../../helpers/work';
import { issuesOf } from '../../helpers/work-kill';

const DAY = 86_400_000;

describe('the sweep', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  let slugs: string[];
  let goals: Goal[];
  let projects: ProjectState[];
  let regenerated: number;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    [slugs, goals, projects, regenerated] = [[], [], [], 0];
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const deps = (): SweepDeps => ({
    ...captureOf(world),
    sessionsSince: () => slugs.flatMap((slug) => sessionAt(world.at.area.sessions, slug) ?? []),
    goals: () => goals,
    projects: () => Promise.resolve(projects),
    remind: () => Promise.resolve(0),
    captures: () => Promise.resolve([]),
    regenerate: () => Promise.resolve((regenerated += 1) > 0 ? null : ''),
  });
  const run = async (more: Partial<SweepOptions> = {}): Promise<SweepResult> =>
    (await sweep(deps(), { sinceMs: DAY, maxCreate: 50, dryRun: false, ...more })).result;
  const session = (slug: string, head: string): string => {
    const folder = join(world.at.area.sessions, slug);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ISA.md'), `---\n${head}\n---\n`);
    slugs.push(slug);
    return join(folder, 'ISA.md');
  };
  const goal = (id: string, text: string): Goal => ({ id, text, reported: null, target: null });
  const titles = async (): Promise<string[]> =>
    (await issuesOf(github, 'ann/work')).map(({ title }) => title).sort();
  const writes = (): string[] =>
    github.seen.filter(({ method }) => method !== 'GET').map(({ method }) => method);

  it('creates missed issues once; a second sweep costs one request', async () => {
    const path = session('one', 'task: First\nphase: verify');
    session('early', 'task: Early\nphase: think');
    session('scaffold', 'phase: execute');
    goals = [goal('G1', 'Run a marathon'), goal('note', 'no goal')];
    projects = [
      { name: 'Shop', path: '/x', lastCommitMs: world.deps.clock.now() - 20 * DAY },
      { name: 'Blog', path: '/y', lastCommitMs: world.deps.clock.now() - 3 * DAY },
      { name: 'Gone', path: '/z', lastCommitMs: undefined },
    ];
    const planned = await run({ dryRun: true });
    expect(planned).to.include({ created: 3, dryRun: true, sessionsScanned: 3 });
    expect([writes(), regenerated]).to.deep.equal([[], 0]);
    const swept = await run();
    expect(swept).to.include({ created: 3, projectChecks: 1, goals: 1, updated: 0, left: 0 });
    expect(planned.titles).to.deep.equal(swept.titles);
    expect(await titles()).to.deep.equal([
      '[Goal] Run a marathon [goal:G1]',
      '[Project-Check] Shop — no commits in 20 days [project:Shop]',
      '[Sweep] First [slug:one]',
    ]);
    expect(readFileSync(path, 'utf8')).to.match(/\ngithub_issue: \d\n/);
    await run();
    github.seen.length = 0;
    const idle = await run();
    expect(idle).to.include({ created: 0, updated: 0 });
    expect(idle.errors).to.deep.equal([]);
    expect([writes(), github.seen.length]).to.deep.equal([[], 1]);
    expect(regenerated).to.equal(3);
  });

  it('creates another issue for a completed goal, but not for one closed as not planned', async () => {
    goals = [goal('G1', 'Run')];
    await run();
    await github.api('PATCH', '/repos/ann/work/issues/1', { state: 'closed', state_reason: 'completed' });
    expect(await run()).to.include({ created: 1 });
    await github.api('PATCH', '/repos/ann/work/issues/2', { state: 'closed', state_reason: 'not_planned' });
    expect(await run()).to.include({ created: 0 });
  });

  it('creates one issue for two session files with one slug', async () => {
    const paths = ['a', 'b'].map((folder) => session(folder, 'slug: same\ntask: First\nphase: execute'));
    expect(await run({ dryRun: true })).to.include({ created: 1, updated: 1 });
    expect(await run()).to.include({ created: 1, updated: 1 });
    expect(await titles()).to.deep.equal(['[Sweep] First [slug:same]']);
    for (const path of paths) expect(readFileSync(path, 'utf8')).to.include('\ngithub_issue: 1\n');
    expect(await run()).to.include({ created: 0, updated: 0, duplicatesMerged: 0 });
  });

  it('stops at the limit and continues in the next run', async () => {
    for (const n of [1, 2, 3, 4, 5]) session(`s${n}`, `task: T${n}\nphase: execute`);
    expect(await run({ maxCreate: 2 })).to.include({ created: 2, left: 3 });
    expect(await run({ maxCreate: 2 })).to.include({ created: 2, left: 1 });
    expect(await run({ maxCreate: 0 })).to.include({ created: 0, left: 1 });
    expect(await run()).to.include({ created: 1, left: 0 });
    expect(await issuesOf(github, 'ann/work')).to.have.length(5);
  });

  it('creates nothing without a complete list', async () => {
    session('one', 'task: First\nphase: execute');
    goals = [goal('G1', 'Run')];
    github.fault = ({ path }) => (path.includes('/issues') ? { status: 502 } : undefined);
    const result = await run();
    expect(result).to.include({ created: 0 });
    expect(result.errors.map(({ step }) => step)).to.deep.equal(['list']);
    expect([writes(), regenerated]).to.deep.equal([[], 0]);
  });

  it('flags issues without activity for seven days, and unflags active ones', async () => {
    await github.api('POST', '/repos/ann/work/issues', { title: 'Slow', labels: ['Status:in-progress'] });
    await github.api('POST', '/repos/ann/work/issues', { title: 'Waiting', labels: ['Status:ready'] });
    const labels = async (): Promise<string[]> =>
      (await issuesOf(github, 'ann/work'))
        .find(({ title }) => title === 'Slow')!
        .labels.map(({ name }) => name);
    expect(await run()).to.include({ staleFlagged: 0 });
    world.ahead(8 * DAY);
    expect(await run()).to.include({ staleFlagged: 1 });
    expect(await labels()).to.include('stale');
    expect(await run()).to.include({ staleFlagged: 0, updated: 0 });
    expect(await labels()).to.include('stale');
    // The service's dates have whole seconds.
    await new Promise((next) => setTimeout(next, 1100));
    await github.api('PATCH', '/repos/ann/work/issues/1', { body: 'touched' });
    expect(await run()).to.include({ updated: 1 });
    expect(await labels()).to.not.include('stale');
  });

  it('uses its own titles and labels: [Sweep], or [Native] for a session without phases', async () => {
    session('one', 'task: First\nphase: execute');
    session('two', 'task: Second\nmode: native');
    session('alone', 'task: Third\nmode: native');
    writeFileSync(join(world.at.area.sessions, 'two', 'sketch.md'), 'x');
    expect(await run()).to.include({ created: 2 });
    const made = (await issuesOf(github, 'ann/work')).map(({ title, labels }) => [
      title,
      labels
        .map(({ name }) => name)
        .filter((name) => name.startsWith('auto-') || name.startsWith('Type:'))
        .sort(),
    ]);
    expect(made.sort()).to.deep.equal([
      ['[Native] Second [slug:two]', ['Type:queue', 'auto-native']],
      ['[Sweep] First [slug:one]', ['Type:feature', 'auto-sweep']],
    ]);
  });

  it('omits and logs labels that the repository lacks', async () => {
    await github.api('DELETE', '/repos/ann/work/labels/auto-sweep');
    session('one', 'task: First\nphase: execute');
    await sweep(deps(), { sinceMs: DAY, maxCreate: 50, dryRun: false });
    const [made] = await issuesOf(github, 'ann/work');
    expect(made?.labels.map(({ name }) => name))
      .to.include('Type:feature')
      .and.not.include('auto-sweep');
    expect(capturesLogged(world).map(({ what, labels }) => [what, labels])).to.deep.equal([
      ['labels-missing', ['auto-sweep']],
    ]);
  });

  it('flags issues after 7 days and projects after 14', async () => {
    await github.api('POST', '/repos/ann/work/issues', { title: 'Slow', labels: ['Status:in-progress'] });
    const now = world.deps.clock.now();
    projects = [13.9, 14.1].map((days) => ({ name: `P${days}`, path: '/x', lastCommitMs: now - days * DAY }));
    const { titles } = await run({ dryRun: true });
    expect(titles).to.have.length(1);
    expect(titles[0]).to.include('P14.1 — no commits in 14 days');
    projects = [];
    world.ahead(6.9 * DAY);
    expect(await run({ dryRun: true })).to.include({ staleFlagged: 0 });
    world.ahead(7.1 * DAY);
    expect(await run({ dryRun: true })).to.include({ staleFlagged: 1 });
  });

  it('merges duplicates into the lowest number', async () => {
    for (const title of ['[Core] A [slug:one]', '[Sweep] B [slug:one]'])
      await github.api('POST', '/repos/ann/work/issues', { title, labels: ['core-sync'] });
    expect(await run({ dryRun: true })).to.include({ duplicatesMerged: 1 });
    expect(await run()).to.include({ duplicatesMerged: 1 });
    const second = (await github.api('GET', '/repos/ann/work/issues/2')) as {
      state: string;
      state_reason: string;
    };
    expect(second).to.include({ state: 'closed', state_reason: 'not_planned' });
    expect((await github.api('GET', '/repos/ann/work/issues/1')) as object).to.include({ state: 'open' });
  });

  it('skips when disabled, and never throws', async () => {
    await world.set('WORK.CAPTURE_SWEEP', false);
    expect(await run()).to.include({ skipped: 'WORK.CAPTURE_SWEEP is false' });
    await world.set('WORK.CAPTURE_SWEEP', true);
    session('one', 'task: First\nphase: execute');
    github.fault = () => 'reset';
    expect((await run()).errors).to.have.length(1);
    world.ahead(3 * DAY);
    expect((await run()).errors).to.have.length(1);
    expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
  });

  it('reads projects.md', () => {
    const text =
      '| Name | Path |\n|---|---|\n| **Shop** | `~/src/shop` | x |\n| **Shop** | `/y` |\n| Other | `z` |\n';
    expect(parseProjects(text)).to.deep.equal([{ name: 'Shop', path: '~/src/shop' }]);
  });
});
