import { expect } from 'chai';
import { existsSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ASSISTANTS } from '../../../src/lib/assistant';
import { readTranscripts } from '../../../src/lib/assistant/transcripts';
import { run } from '../../../src/lib/platform/process/process';
import { backfill, type BackfillDeps, type PastActivity } from '../../../src/lib/sense/backfill';
import { lastDays } from '../../../src/lib/sense/read';
import { rollup } from '../../../src/lib/sense/roll';
import { recentText } from '../../../src/lib/sense/view-status';
import { gitBox, ME, OTHER, type GitBox } from '../../helpers/git';
import { filesIn, focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';

describe('sense: backfill', () => {
  let box: SenseBox;
  let git: GitBox;
  let shop: string;
  let activity: PastActivity[];
  beforeEach(() => {
    box = senseBox('2026-11-20T12:00:00Z');
    git = gitBox();
    shop = git.init('shop');
    activity = [];
  });
  afterEach(() => {
    box.remove();
    git.remove();
  });

  const at = (iso: string): number => Date.parse(iso) / 1000;
  const deps = (more: Partial<BackfillDeps> = {}): BackfillDeps => ({
    ...box.deps,
    git: {
      run,
      env: git.env,
      machineId: 'm1',
      config: { repos: [shop], git: { authors: 'mine' }, sources: { git: true, agentSession: true } },
    },
    pastActivity: (sinceMs, take) => activity.filter(({ ms }) => ms >= sinceMs).forEach(take),
    ...more,
  });
  const fill = (days = 30, dryRun = false) => backfill(deps(), { days, dryRun });

  it('adds your own commits of past days, marked as not recorded', async () => {
    git.commit(shop, { at: at('2026-10-01T10:00:00Z'), subject: 'too old' });
    git.commit(shop, { at: at('2026-11-18T10:00:00Z'), subject: 'first' });
    git.commit(shop, { at: at('2026-11-18T11:00:00Z'), subject: 'of another', email: OTHER });
    git.git(shop, ['checkout', '-q', '-b', 'login']);
    git.commit(shop, { at: at('2026-11-19T10:00:00Z'), subject: 'second' });
    git.commit(shop, { at: at('2026-11-20T10:00:00Z'), subject: 'today' });
    const result = await fill();
    expect(result).to.deep.include({
      commits: 2,
      sessions: 0,
      days: ['2026-11-18', '2026-11-19'],
      problems: [],
    });
    expect(box.record('2026-11-18')).to.deep.include({ final: true, backfilled: true, totalMinutes: 0 });
    expect(box.record('2026-11-18').commits).to.deep.equal({
      count: 1,
      repos: [{ repo: 'shop', commits: 1 }],
    });
    expect(box.lines('events/2026-11-19.jsonl')).to.have.length(1);
    expect(box.lines('events/2026-11-19.jsonl')[0]).to.have.nested.property('detail.branch', 'login');
  });

  it('reads a repository without commits, or with a branch checked out that has none', async () => {
    expect(await fill()).to.deep.include({ commits: 0, problems: [] });
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    git.git(shop, ['checkout', '-q', '--orphan', 'pages']);
    expect(await fill()).to.deep.include({ commits: 1, problems: [] });
    expect(box.lines('events/2026-11-18.jsonl')[0]).to.have.nested.property('detail.branch', 'main');
  });

  it('adds nothing twice, and nothing that a capture stored', async () => {
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    activity.push({ session: 's1', repo: 'shop', ms: Date.parse('2026-11-18T10:00:00Z') });
    expect(await fill()).to.deep.include({ commits: 1, sessions: 1 });
    const before = filesIn(box.area.sense.root);
    expect(await fill()).to.deep.include({ commits: 0, sessions: 0, days: [] });
    expect(filesIn(box.area.sense.root)).to.deep.equal(before);
  });

  it('adds nothing again for a renamed repository, or for another spelling of its path', async () => {
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    expect(await fill()).to.deep.include({ commits: 1 });
    const fillAt = (path: string) => {
      const { git: own } = deps();
      return backfill(deps({ git: { ...own, config: { ...own.config, repos: [path] } } }), {
        days: 30,
        dryRun: false,
      });
    };
    const link = join(git.folder, 'link');
    symlinkSync(shop, link);
    expect(await fillAt(link), 'a link').to.deep.include({ commits: 0, problems: [] });
    const renamed = join(git.folder, 'store');
    renameSync(shop, renamed);
    git.commit(renamed, { at: at('2026-11-18T11:00:00Z') });
    expect(await fillAt(renamed), 'one new commit').to.deep.include({ commits: 1, problems: [] });
    expect(await fillAt(renamed)).to.deep.include({ commits: 0 });
  });

  it('distinguishes a renamed repository from its clone, once captured', async () => {
    const { gitSource } = await import('../../../src/lib/sense/git');
    const { git: own } = deps();
    const gitOf = (repos: string[]) => ({ ...own, config: { ...own.config, repos } });
    const captureAt = (path: string) =>
      box.capture({ sources: [gitSource({ ...gitOf([path]), clock: box.deps.clock })] });
    const fillAt = (path: string) => backfill(deps({ git: gitOf([path]) }), { days: 30, dryRun: false });
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    await captureAt(shop);
    expect(await fill()).to.deep.include({ commits: 1 });
    git.git(shop, ['commit', '-q', '--amend', '--allow-empty', '-m', 'better'], {
      GIT_COMMITTER_DATE: '2026-11-19T10:00:00Z',
    });
    const renamed = join(git.folder, 'store');
    renameSync(shop, renamed);
    expect(await fillAt(renamed), 'before a capture').to.deep.include({ commits: 0 });
    await captureAt(renamed);
    expect(await fillAt(renamed), 'after a capture').to.deep.include({ commits: 0 });
    const clone = join(git.folder, 'clone');
    git.git(git.folder, ['clone', '-q', renamed, clone]);
    git.git(clone, ['config', 'user.email', ME]);
    expect(await fillAt(clone), 'a clone is a repository of its own').to.deep.include({ commits: 1 });
  });

  it('recognizes a commit that was amended after its capture', async () => {
    box.at('2026-11-18T12:00:00Z');
    git.commit(shop, { at: at('2026-11-18T10:00:00Z'), subject: 'draft' });
    const { gitSource } = await import('../../../src/lib/sense/git');
    await box.capture({ sources: [gitSource({ ...deps().git, clock: box.deps.clock })] });
    git.git(shop, ['commit', '-q', '--amend', '--allow-empty', '-m', 'better'], {
      GIT_COMMITTER_DATE: '2026-11-19T10:00:00Z',
    });
    box.at('2026-11-20T12:00:00Z');
    expect(await fill()).to.deep.include({ commits: 0 });
  });

  it('keeps recorded application time after a change of classification', async () => {
    box.at('2026-11-18T12:00:00Z');
    await box.capture({ sources: [listSource('appFocus', [focus('2026-11-18T11:00:00Z', 'Code')])] });
    box.at('2026-11-20T12:00:00Z');
    rollup(box.deps, '2026-11-18');
    const before = box.record('2026-11-18');
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    const changed = deps({
      classify: () => ({ kind: 'neutral', reason: 'changed', rule: undefined }) as never,
    });
    expect(await backfill(changed, { days: 30, dryRun: false })).to.deep.include({ commits: 1 });
    const { apps, hours, totalMinutes, creationMinutes } = before;
    expect(box.record('2026-11-18')).to.deep.include({ apps, hours, totalMinutes, creationMinutes });
    expect(box.record('2026-11-18')).to.not.have.property('backfilled');
    expect(box.record('2026-11-18').commits.count).to.equal(1);
  });

  it('skips a day whose event log was deleted', async () => {
    git.commit(shop, { at: at('2026-11-10T10:00:00Z') });
    await fill();
    const record = box.read('sense/daily/2026-11-10.json');
    box.store.removeLog('2026-11-10');
    git.commit(shop, { at: at('2026-11-10T11:00:00Z') });
    expect(await fill()).to.deep.include({ commits: 0, days: [] });
    expect(box.read('sense/daily/2026-11-10.json')).to.equal(record);
  });

  it('writes nothing in a dry run, with the same result', async () => {
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    expect(await fill(30, true)).to.deep.include({ dryRun: true, commits: 1, days: ['2026-11-18'] });
    expect(existsSync(box.area.root)).to.equal(false);
  });

  it('reports a repository that fails, and reads the others', async () => {
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    const broken = git.init('broken');
    writeFileSync(join(broken, '.git', 'config'), '[core\n');
    const { git: own } = deps();
    const both = deps({
      git: { ...own, config: { ...own.config, repos: [broken, join(git.folder, 'gone'), shop] } },
    });
    const result = await backfill(both, { days: 30, dryRun: false });
    expect(result.commits).to.equal(1);
    expect(result.problems.sort().map((text) => text.replace(git.folder, '').slice(0, 8))).to.deep.equal([
      '/broken:',
      '/gone: n',
    ]);
  });

  it('says that the history of a shallow clone is cut, if it is cut within the period', async () => {
    for (const day of ['17', '18', '19']) git.commit(shop, { at: at(`2026-11-${day}T10:00:00Z`) });
    const clone = join(git.folder, 'clone');
    git.git(git.folder, ['clone', '-q', '--depth', '2', `file://${shop}`, clone]);
    git.git(clone, ['config', 'user.email', ME]);
    const { git: own } = deps();
    const shallow = deps({ git: { ...own, config: { ...own.config, repos: [clone] } } });
    const result = await backfill(shallow, { days: 30, dryRun: true });
    expect(result.commits).to.equal(2);
    expect(result.problems).to.deep.equal([
      `${clone}: shallow clone, so older commits are missing. Run "git fetch --unshallow" there.`,
    ]);
    expect(await backfill(shallow, { days: 1, dryRun: true })).to.deep.include({ problems: [] });
  });

  it('stores one event per session and poll interval, including today', async () => {
    for (const time of ['10:00:00', '10:00:30', '10:01:59', '10:02:00'])
      activity.push({ session: 's1', repo: 'shop', ms: Date.parse(`2026-11-18T${time}Z`) });
    activity.push({ session: 's2', ms: Date.parse('2026-11-20T09:00:00Z') });
    expect(await fill()).to.deep.include({ sessions: 2, days: ['2026-11-18', '2026-11-20'] });
    expect(box.record('2026-11-18').sessions).to.deep.equal({
      count: 1,
      items: [{ session: 's1', events: 4 }],
    });
    expect(box.lines('events/2026-11-18.jsonl')).to.have.length(2);
  });

  it('shows seven days, unknown ones as not recorded', async () => {
    git.commit(shop, { at: at('2026-11-18T10:00:00Z') });
    await fill();
    const days = lastDays({ ...box.deps, config: { ...box.deps.config, repos: [] } }, 7);
    const shown = (columns: number) => recentText(days, { columns, color: false }).split('\n');
    expect(shown(80)).to.have.length(7);
    expect(shown(80)[0]).to.match(/^2026-11-20 {2}Fri {2}- +so far {2}nothing captured$/);
    expect(shown(80)[2]).to.equal('2026-11-18  Wed  -  1 commit  0 sessions          time not recorded');
    expect(shown(80)[6]).to.match(/^2026-11-14 .* not recorded$/);
    await box.capture();
    const later = recentText(lastDays({ ...box.deps, config: { ...box.deps.config, repos: [] } }, 7), { columns: 80, color: false }); // prettier-ignore
    expect(later.split('\n')[1], 'between').to.match(/^2026-11-19 .* not recorded$/);
    expect(shown(40)[2], 'what is known comes first').to.equal('2026-11-18  Wed  -  1 commit  0 sessions');
  });

  it('reads times, ids and repositories from transcripts, never text', () => {
    const folder = join(git.folder, 'projects', 'x', 's9', 'subagents');
    mkdirSync(folder, { recursive: true });
    const entry = (fields: Record<string, unknown>): string =>
      JSON.stringify({
        type: 'user',
        sessionId: 's9',
        cwd: shop,
        timestamp: '2026-11-18T10:00:00Z',
        ...fields,
      });
    const lines = [
      entry({ message: 'secret' }),
      entry({ type: 'summary' }),
      entry({ timestamp: 'soon' }),
      entry({ type: 'assistant', timestamp: '2026-11-18T10:05:00.000Z', cwd: '/' }),
      entry({ timestamp: '2026-10-01T10:00:00Z' }),
      '{"sessionId":',
      `${entry({ message: 'torn' }).slice(0, 60)}`,
    ];
    writeFileSync(join(folder, 'a.jsonl'), lines.join('\n'));
    writeFileSync(join(git.folder, 'projects', 'old.jsonl'), `${entry({ sessionId: 'old' })}\n`);
    utimesSync(join(git.folder, 'projects', 'old.jsonl'), 1, 1);
    const found: unknown[] = [];
    readTranscripts(
      [join(git.folder, 'projects'), join(git.folder, 'none')],
      Date.parse('2026-11-01T00:00:00Z'),
      (one) => found.push(one),
    );
    expect(found).to.deep.equal([
      { session: 's9', repo: 'shop', ms: Date.parse('2026-11-18T10:00:00Z') },
      { session: 's9', ms: Date.parse('2026-11-18T10:05:00Z') },
    ]);
  });

  it("reads Codex's transcripts, which name the session in their first line, without those of subagents", () => {
    const folder = join(git.folder, 'sessions', '2026', '11', '18');
    mkdirSync(folder, { recursive: true });
    const line = (minute: string, type: string, payload: object): string =>
      `${JSON.stringify({ timestamp: `2026-11-18T10:${minute}:00.000Z`, ordinal: 1, type, payload })}\n`;
    const text = (meta: object): string =>
      line('00', 'session_meta', meta) +
      line('05', 'response_item', { text: 'secret' }) +
      line('06', 'other', {});
    writeFileSync(join(folder, 'rollout-1.jsonl'), text({ id: 'c1', cwd: shop, source: 'cli' }));
    writeFileSync(
      join(folder, 'rollout-2.jsonl'),
      text({ id: 'c2', cwd: shop, source: { subagent: 'review' } }),
    );
    const found: PastActivity[] = [];
    readTranscripts([join(git.folder, 'sessions')], 0, (one) => found.push(one));
    expect(found.map(({ session, repo, ms }) => [session, repo, new Date(ms).getUTCMinutes()])).to.deep.equal(
      [
        ['c1', 'shop', 0],
        ['c1', 'shop', 5],
      ],
    );
  });

  it("reads Copilot's events, which name the session in their first line", () => {
    const folder = join(git.folder, 'session-state', 'p1');
    mkdirSync(folder, { recursive: true });
    const line = (minute: string, type: string, data: object): string =>
      `${JSON.stringify({ type, data, id: '1', timestamp: `2026-11-18T10:${minute}:00.000Z` })}\n`;
    const start = line('00', 'session.start', { sessionId: 'p1', context: { cwd: shop } });
    const more = line('05', 'user.message', { content: 'secret' }) + line('06', 'hook.start', {});
    writeFileSync(join(folder, 'events.jsonl'), start + more);
    const found: PastActivity[] = [];
    readTranscripts([join(git.folder, 'session-state')], 0, (one) => found.push(one));
    const rows = found.map(({ session, repo, ms }) => [session, repo, new Date(ms).getUTCMinutes()]);
    expect(rows).to.deep.equal([
      ['p1', 'shop', 0],
      ['p1', 'shop', 5],
    ]);
  });

  it("finds transcripts in the assistants' folders", () => {
    const env = { CLAUDE_CONFIG_DIR: '~/c', CODEX_HOME: '/srv/codex' };
    const host = { platform: 'linux' as const, env, home: '/home/ann' };
    expect(ASSISTANTS.flatMap(({ transcripts }) => transcripts?.(host) ?? [])).to.deep.equal([
      '/home/ann/c/projects',
      '/home/ann/.claude/projects',
      '/home/ann/.config/claude/projects',
      '/srv/codex/sessions',
      '/srv/codex/archived_sessions',
      '/home/ann/.copilot/session-state',
      '/home/ann/.qwen/projects',
    ]);
  });
});
