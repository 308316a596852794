import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import type { StewardError } from '../../../src/lib/errors';
import type { Clock } from '../../../src/lib/platform/time/clock';
import { dayBounds } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { asRecord } from '../../../src/lib/time/record';
import { dayParts } from '../../../src/lib/time/day-parts';
import { damagedText, pendingTexts } from '../../../src/lib/sync/checks';
import type { LocalDay } from '../../../src/lib/sync/day';
import { readPublishedDay, readPublishedSessions, readPublishedUsage } from '../../../src/lib/sync/exchange';
import { inFolder, noFolder, prepareFolder } from '../../../src/lib/sync/folder';
import { hashedId } from '../../../src/lib/sync/format';
import { markLeft, unpublish } from '../../../src/lib/sync/former';
import { planFiles, publish, type PublishDeps } from '../../../src/lib/sync/publish';
import { pendingFormer, readState, withFolder, withPending, writeState } from '../../../src/lib/sync/state';
import { findMachine, syncStatus } from '../../../src/lib/sync/status';
import { afterRenewal } from '../../../src/lib/sync/writer';
import { newsOf, newsText, statusText } from '../../../src/lib/sync/view';
import { snapshot } from '../../helpers/scratch';
import { scratch } from '../../helpers/scratch';
import { buildDailyRecord, focus } from '../../helpers/sense';
import { long } from '../../helpers/long';

const DAY = '2026-11-20';
const ID = '0123456789ab';
const options = { timezone: 'UTC', pollIntervalSec: 120, classify: makeClassifier('templates') };

/** Time, a commit and two sessions, one of which has no name. */
const EVENTS: SenseEvent[] = [
  { ...focus(`${DAY}T09:00:00Z`, 'Code'), repo: 'shop', detail: { intervalSec: 120, sessions: ['open'] } },
  {
    ...focus(`${DAY}T09:10:00Z`, 'Code'),
    detail: { intervalSec: 120, sessions: ['secret'] },
  },
  focus(`${DAY}T09:20:00Z`, 'Code'),
  {
    ...{ ts: `${DAY}T09:30:00.000Z`, type: 'git-commit', source: 'git', repo: 'shop' },
    detail: { sha: 'a1', subject: 'secret subject', identity: 'x', path: '/home/ann/secret-path/shop' },
  },
  ...['open', 'secret'].flatMap((session): SenseEvent[] => {
    const place = session === 'open' ? { repo: 'shop' } : {};
    const detail = { session, state: 'working', ...(session === 'open' && { branch: 'open-branch' }) };
    return [
      { ts: `${DAY}T09:00:00.000Z`, type: 'session-state', source: 'agentSession', ...place, detail },
      {
        ts: `${DAY}T09:05:00.000Z`,
        type: 'agent-session',
        source: 'agentSession',
        ...place,
        detail: { session, events: 2 },
      },
      {
        ts: `${DAY}T09:30:00.000Z`,
        type: 'session-state',
        source: 'agentSession',
        ...place,
        detail: { ...detail, state: 'over' },
      },
    ];
  }),
];
const amounts = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0.5 };
const USAGE = ['open', 'secret'].map((session) => ({
  ...{ assistant: 'claude-code', session, repo: session === 'open' ? 'shop' : null, model: 'm' },
  ...amounts,
}));
const SECRETS = /secret|\/home/;

function hintOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return (error as StewardError).hint;
  }
}

describe('publishing (lib)', () => {
  const { path } = scratch();
  let nowMs = 0;
  let mark = 1;
  let reads = 0;
  let details = false;
  let usage = USAGE;
  const known = new Set<string>();
  let days: Record<string, () => LocalDay> = {};
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };
  const folder = (): string => path('exchange');
  const own = (...names: string[]): string => path('exchange', 'machines', ID, ...names);

  const deps = (): PublishDeps => ({
    ...{ clock, folder: folder(), state: path('state', 'sync.json'), today: '2026-11-21' },
    machine: { id: ID, name: 'laptop', timezone: 'UTC', version: '1.0.0' },
    mark: () => String(mark),
    local: () => ({
      days: () => Object.keys(days).sort(),
      markOf: () => String(mark),
      read: (day) => {
        reads += 1;
        return days[day]?.() ?? expect.fail(day);
      },
      disclosure: {
        details,
        about: (id) =>
          known.has(id) ? { slug: `${id}-slug`, title: `${id} secret title`, issue: 7 } : undefined,
      },
      lastInput: () => Date.parse(`${DAY}T09:20:30Z`) / 1000,
    }),
  });
  const record = () => {
    const built = buildDailyRecord(DAY, EVENTS, {
      ...{ ...options, version: '1.2.0', generatedAt: `${DAY}T23:00:00.000Z`, final: true },
    });
    built.goalTags = { G1: { minutes: 2, working: 1, reasons: ['projects: secret'] } };
    return built;
  };
  const partsOf = (events: SenseEvent[]) => dayParts(events, { ...options, ...dayBounds(DAY, 'UTC') });
  const localDay = (): LocalDay => ({ record: record(), parts: partsOf(EVENTS), usage });
  const dayWithoutLog = (): LocalDay => ({ record: record(), parts: undefined, usage });
  const day = () => readPublishedDay({ path: own() }, DAY) ?? expect.fail('no day');
  const sessions = () => readPublishedSessions({ path: own() }, DAY);
  const bytes = (): string =>
    readdirSync(folder(), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(path('exchange', name)).isFile())
      .map((name) => `${name}\n${readFileSync(path('exchange', name), 'utf8')}`)
      .join('\n');

  beforeEach(() => {
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    [mark, reads, details, usage] = [1, 0, false, USAGE];
    known.clear();
    known.add('open');
    days = { [DAY]: localDay };
    prepareFolder(folder(), [path('area')]);
  });

  it('writes exactly the files of the plan, which readers then find', () => {
    const planned = planFiles(deps());
    expect(planned.map(({ path: name, change }) => [name, change])).to.deep.equal([
      ['machine.json', 'new'],
      [`daily/${DAY}.json`, 'new'],
      [`sessions/${DAY}.jsonl`, 'new'],
      [`usage/${DAY}.json`, 'new'],
    ]);
    expect(existsSync(own())).to.equal(false);
    const { files, bytes: written } = publish(deps());
    expect(files).to.equal(4);
    expect(written).to.equal(planned.reduce((sum, file) => sum + file.bytes, 0));
    const withoutRun = (text: string): string => text.replace(/,"run":"[0-9a-f]{12}"/, '');
    for (const { path: name, text } of planned)
      expect(withoutRun(readFileSync(own(name), 'utf8'))).to.equal(withoutRun(text));
    const found = readdirSync(folder(), { recursive: true, encoding: 'utf8' });
    expect(found.filter((name) => statSync(path('exchange', name)).isFile()).sort()).to.deep.equal(
      planned.map(({ path: name }) => join('machines', ID, name)).sort(),
    );
    expect(planFiles(deps()).every(({ change }) => change === 'none')).to.equal(true);
  });

  it('publishes no subject, path, title or session id without details', () => {
    publish(deps());
    expect(bytes()).to.not.match(SECRETS);
    expect(day().record.totalMinutes).to.equal(6);
    expect(day().record.sessions.items.map(({ session }) => session)).to.deep.equal([
      hashedId('session', 'open'),
      hashedId('session', 'secret'),
    ]);
    expect(day().record.ledger?.agents.map(({ repo }) => repo)).to.deep.equal(['shop', null]);
    expect(day().spans.map(({ repo }) => repo)).to.deep.equal(['shop', undefined, undefined]);
    const parts = [[Date.parse(`${DAY}T09:00:00Z`) / 1000, Date.parse(`${DAY}T09:30:00Z`) / 1000, 'w']];
    const [named, nameless] = ['open', 'secret'].map((id) => hashedId('session', id));
    expect(sessions()).to.have.deep.members([
      { id: named, assistant: 'claude-code', repo: 'shop', branch: 'open-branch', parts },
      { id: nameless, assistant: 'claude-code', repo: null, branch: null, parts },
    ]);
    expect(
      readPublishedUsage({ path: own() }, DAY).map(({ session, repo, input }) => [session, repo, input]),
    ).to.have.deep.members([
      [named, 'shop', 10],
      [nameless, null, 10],
    ]);
  });

  it('publishes subjects, paths and titles with details, and takes them back', () => {
    details = true;
    publish(deps());
    expect(day().commits[0]).to.include({ subject: 'secret subject', path: '/home/ann/secret-path/shop' });
    expect(sessions().map(({ slug, title, issue }) => [slug, title, issue])).to.have.deep.members([
      ['open-slug', 'open secret title', 7],
      [undefined, undefined, undefined],
    ]);
    // Even for a day whose event log was deleted meanwhile.
    days = { [DAY]: dayWithoutLog };
    [details, mark] = [false, 2];
    publish(deps());
    expect(bytes()).to.not.match(SECRETS);
    expect(day().spans).to.have.length(3);
    expect(day().commits).to.have.length(1);
  });

  it('reads and writes nothing while nothing changed', () => {
    publish(deps());
    const before = snapshot(folder());
    const inodes = statSync(own('machine.json')).ino;
    reads = 0;
    nowMs += 3_600_000;
    expect(publish(deps())).to.deep.equal({ files: 0, bytes: 0 });
    expect(reads).to.equal(0);
    expect(planFiles(deps()).filter(({ change }) => change !== 'none')).to.deep.equal([]);
    mark = 2;
    expect(publish(deps())).to.deep.equal({ files: 0, bytes: 0 });
    expect(snapshot(folder())).to.deep.equal(before);
    expect(statSync(own('machine.json')).ino).to.equal(inodes);
  });

  it('gives a sign of life every five minutes while another machine exists', () => {
    publish(deps());
    nowMs += 5 * 60_000;
    expect(publish(deps()).files).to.equal(0);
    mkdirSync(join(folder(), 'machines', 'ffffffffffff'));
    expect(publish(deps()).files).to.equal(1);
    expect(readFileSync(own('machine.json'), 'utf8')).to.contain('"publishedAt":"2026-11-21T10:05Z"');
    expect(publish(deps()).files).to.equal(0);
  });

  it('gives a sign of life every six hours, and compares every file once a day', () => {
    publish(deps());
    nowMs += 7 * 3_600_000;
    expect(publish(deps()).files).to.equal(1);
    expect(readFileSync(own('machine.json'), 'utf8')).to.contain('"publishedAt":"2026-11-21T17:00Z"');
    writeFileSync(own('daily', `${DAY}.json`), '<<<<<<< HEAD');
    publish(deps());
    expect(readFileSync(own('daily', `${DAY}.json`), 'utf8')).to.equal('<<<<<<< HEAD');
    publish({ ...deps(), today: '2026-11-22' });
    expect(day().record.totalMinutes).to.equal(6);
  });

  it('keeps the times and sessions of a day whose log and sessions are gone here', () => {
    publish(deps());
    const before = bytes();
    known.delete('open');
    mark = 2;
    publish(deps());
    expect(bytes()).to.equal(before);
    days = { [DAY]: dayWithoutLog };
    mark = 3;
    publish(deps());
    expect(bytes()).to.equal(before);
  });

  it('takes over the times of such a day from a former folder', () => {
    publish(deps());
    const before = bytes();
    days = { [DAY]: dayWithoutLog };
    known.delete('open');
    const moved = () => ({ ...deps(), folder: path('other'), former: () => [own()] });
    const other = join(path('other'), 'machines', ID);
    prepareFolder(path('other'), []);
    publish(moved());
    for (const name of ['daily', 'sessions'])
      for (const file of readdirSync(own(name)))
        expect(readFileSync(join(other, name, file), 'utf8')).to.equal(readFileSync(own(name, file), 'utf8'));
    expect(bytes()).to.equal(before);
  });

  it('removes purged days from the exchange folder, and from a former one once it is used again', () => {
    const other = path('other');
    prepareFolder(other, []);
    const purge = (): void => {
      days = {};
      mark += 1;
      const state = withFolder(readState(deps().state), other);
      writeState(deps().state, withPending(state, { from: DAY, to: DAY }));
    };
    publish(deps());
    publish({ ...deps(), folder: other });
    purge();
    publish({ ...deps(), folder: other });
    expect(existsSync(join(other, 'machines', ID, 'daily', `${DAY}.json`))).to.equal(false);
    expect(existsSync(own('daily', `${DAY}.json`))).to.equal(true);
    publish(deps());
    expect(existsSync(own('daily', `${DAY}.json`))).to.equal(false);
  });

  it('names former folders that contain purged data, and writes nothing there', () => {
    const other = path('other');
    publish(deps());
    prepareFolder(other, []);
    publish({ ...deps(), folder: other });
    const before = bytes();
    const state = withFolder(readState(deps().state), other);
    expect(pendingFormer(state)).to.deep.equal([]);
    writeState(deps().state, withPending(state, {}));
    publish({ ...deps(), folder: other });
    expect(bytes()).to.equal(before);
    expect(pendingTexts(statusNow()).map(({ text, fix }) => [text, fix])).to.deep.include([
      `purged data is still in ${folder()}`,
      `steward sync leave ${folder()} --remove`,
    ]);
  });

  it('keeps published days if the local data is missing, and removes them only after a purge', () => {
    publish(deps());
    days = {};
    mark = 2;
    publish(deps());
    expect(existsSync(own('daily', `${DAY}.json`))).to.equal(true);
    const purge = (removal: object): void => {
      writeState(deps().state, { ...readState(deps().state), removals: [removal] });
      publish(deps());
    };
    purge({ from: '2026-11-19', to: '2026-11-19' });
    purge({ to: '2026-11-19' });
    expect(existsSync(own('daily', `${DAY}.json`))).to.equal(true);
    purge({ from: DAY, to: DAY });
    expect(readdirSync(own('daily'))).to.deep.equal([]);
    expect(readdirSync(own('sessions'))).to.deep.equal([]);
    expect(readdirSync(own('usage'))).to.deep.equal([]);
    expect(readState(deps().state).removals).to.deep.equal([]);
  });

  describe('after the area was restored from a backup', () => {
    const dayOf =
      (events: SenseEvent[], isFinal = true) =>
      (): LocalDay => {
        const label = { version: '1.2.0', generatedAt: `${DAY}T23:30:00.000Z`, final: isFinal };
        const built = buildDailyRecord(DAY, events, { ...options, ...label });
        return { record: built, parts: partsOf(events), usage };
      };
    const republish = (read: () => LocalDay) => {
      days = { [DAY]: read };
      mark += 1;
      return publish(deps());
    };
    const old = EVENTS.slice(0, 1);
    const later = { ...focus(`${DAY}T15:00:00Z`, 'Firefox'), detail: { intervalSec: 120 } };

    it('keeps a richer published day whole, and names it once', () => {
      publish(deps());
      const before = bytes();
      expect(republish(dayOf(old)).kept).to.deep.equal([DAY]);
      expect(bytes()).to.equal(before);
      expect(republish(dayOf(old)).kept).to.equal(undefined);
      expect(readState(deps().state).kept).to.deep.equal([DAY]);
      usage = [];
      republish(localDay);
      expect(bytes()).to.equal(before);
      republish(localDay);
      usage = USAGE;
      republish(localDay);
      expect(readState(deps().state).kept).to.equal(undefined);
    });

    it('keeps the published day if its log is gone and its record is empty', () => {
      publish(deps());
      const before = bytes();
      republish(() => ({ ...dayOf([])(), parts: undefined }));
      expect(bytes()).to.equal(before);
    });

    it('keeps a published day of which nothing is left here, and names it once', () => {
      publish(deps());
      const before = bytes();
      const republishNone = () => {
        days = {};
        mark += 1;
        return publish(deps()).kept;
      };
      expect(republishNone()).to.deep.equal([DAY]);
      expect(republishNone()).to.equal(undefined);
      expect(bytes()).to.equal(before);
      expect(readState(deps().state).kept).to.deep.equal([DAY]);
      writeState(deps().state, { ...readState(deps().state), removals: [{ from: DAY, to: DAY }] });
      republishNone();
      expect(readState(deps().state).kept).to.equal(undefined);
    });

    it('adds what was recorded since, as one consistent day that no longer changes', () => {
      publish(deps());
      republish(dayOf([...old, later]));
      const { record: merged, spans } = day();
      expect([merged.totalMinutes, merged.commits.count, merged.sessions.count]).to.deep.equal([8, 1, 2]);
      expect(spans.reduce((sum, { from, to }) => sum + to - from, 0)).to.equal(8 * 60);
      expect(merged.ledger?.attention.reduce((sum, { minutes }) => sum + minutes, 0)).to.equal(8);
      expect(
        merged.hours.reduce((sum, { creation, consumption }) => sum + creation + consumption, 0),
      ).to.equal(8);
      expect(Object.keys(merged)).to.not.include('machines');
      expect(asRecord(merged)).to.not.equal(undefined);
      const before = bytes();
      republish(dayOf([...old, later]));
      expect(bytes()).to.equal(before);
    });

    it('still shortens the day for a purge and details that are turned off', () => {
      details = true;
      publish(deps());
      details = false;
      republish(dayOf(old));
      expect(day().record.totalMinutes).to.equal(6);
      expect(bytes()).to.not.match(SECRETS);
      writeState(deps().state, { ...readState(deps().state), removals: [{ from: DAY, to: DAY }] });
      republish(dayOf(old));
      expect(day().record.totalMinutes).to.equal(2);
    });
  });

  it('removes the titles of sessions after "sessions forget"', () => {
    details = true;
    publish(deps());
    expect(bytes()).to.contain('open secret title');
    known.clear();
    writeState(deps().state, { ...readState(deps().state), removals: [{ sessions: true }] });
    publish(deps());
    expect(bytes()).to.not.match(/open secret title|open-slug/);
    expect(day().record.totalMinutes).to.equal(6);
  });

  it('never creates a missing folder, and publishes a waiting removal once it is back', () => {
    publish(deps());
    rmSync(path('exchange', 'machines'), { recursive: true });
    expect(() => publish(deps())).to.throw(/may not be mounted/);
    expect(readdirSync(folder())).to.deep.equal([]);
    rmSync(folder(), { recursive: true });
    expect(() => publish(deps())).to.throw(/Exchange folder not found/);
    expect(() => unpublish(deps(), [])).to.throw(/Exchange folder not found/);
    expect(existsSync(folder())).to.equal(false);
  });

  it('does not create a folder that is taken away during a run', () => {
    const taken = { ...deps(), local: () => (rmSync(folder(), { recursive: true }), deps().local()) };
    expect(() => publish(taken)).to.throw(/ENOENT/);
    expect(existsSync(folder())).to.equal(false);
    expect(() => publish(deps())).to.throw(/Exchange folder not found/);
  });

  it('compares everything after a failure, and then has no problem any more', () => {
    publish(deps());
    const problem = { at: '2026-11-21T10:00:00.000Z', message: 'Exchange folder not found.' };
    writeState(deps().state, { ...readState(deps().state), problem });
    rmSync(own('daily', `${DAY}.json`));
    expect(publish(deps()).files).to.equal(2);
    expect(readState(deps().state).problem).to.equal(undefined);
    expect(day().record.totalMinutes).to.equal(6);
  });

  describe('with another writer of its files', () => {
    /** The same machine on a copied disk: its own state, the same id. */
    const copy = (): PublishDeps => ({ ...deps(), state: path('state', 'copy.json') });
    const change = (): unknown => (mark += 1);
    const publishOn = (machine: PublishDeps) => {
      change();
      nowMs += 5 * 60_000;
      rmSync(own('daily'), { recursive: true, force: true });
      return publish(machine);
    };

    it('asks for a new id once the other one has written twice, on one of both', () => {
      publish(deps());
      writeFileSync(path('state', 'copy.json'), readFileSync(deps().state));
      const renewals = [copy(), deps(), copy(), deps(), copy(), deps()].map(
        (machine) => publishOn(machine).needsNewId,
      );
      expect(renewals.indexOf(true)).to.be.within(3, 5);
    });

    it('writes a run of its own if it knows none, and does not repeat that of the other writer', () => {
      const runIn = (): unknown =>
        (JSON.parse(readFileSync(own('machine.json'), 'utf8')) as { run?: string }).run;
      publish(deps());
      const theirs = runIn();
      publishOn(copy());
      expect(runIn()).to.be.a('string').that.does.not.equal(theirs);
    });

    long('keeps the id after its state was restored from a backup, or lost', () => {
      publish(deps());
      const backup = readFileSync(deps().state);
      for (let i = 0; i < 3; i += 1) publishOn(deps());
      writeFileSync(deps().state, backup);
      for (let i = 0; i < 20; i += 1) expect(publishOn(deps()).needsNewId).to.equal(undefined);
      nowMs += 8 * 86_400_000;
      rmSync(deps().state);
      for (let i = 0; i < 20; i += 1) expect(publishOn(deps()).needsNewId).to.equal(undefined);
    });

    it('asks for a new id once a day at most', () => {
      publish(deps());
      const foreign = [nowMs, nowMs];
      writeState(deps().state, { ...readState(deps().state), foreign });
      expect(publishOn(deps()).needsNewId).to.equal(true);
      writeState(deps().state, { ...afterRenewal(readState(deps().state), nowMs), foreign });
      expect(publishOn(deps()).needsNewId).to.equal(undefined);
    });
  });

  it('sweeps what a killed run left, removes only its own files, and forgets another machine', () => {
    mkdirSync(own('daily'), { recursive: true });
    writeFileSync(own('daily', `.${DAY}.json.0123456789ab.tmp`), '{');
    publish(deps());
    expect(readdirSync(own('daily'))).to.deep.equal([`${DAY}.json`]);
    const other = {
      ...deps(),
      machine: { ...deps().machine, id: 'bbbbbbbbbbbb', name: 'desktop' },
      state: path('other', 'sync.json'),
    };
    publish(other);
    const input = {
      ...{
        folder: folder(),
        details: false,
        state: readState(deps().state),
        ownId: ID,
        nowMs,
        timezone: 'UTC',
        shared: '/none',
      },
    };
    const { machines } = syncStatus({ ...input, nowMs: nowMs + 3 * 86_400_000, isDeep: true });
    expect(
      machines.map(({ name, isThis, daysBehind, days: count }) => [name, isThis, daysBehind, count]),
    ).to.deep.equal([
      ['laptop', true, 3, 1],
      ['desktop', false, 3, 1],
    ]);
    const byGit = { engine: 'git', found: 'ann/work', problem: false } as const;
    const shownBy = { isTTY: false, columns: 80, color: false, unicode: true };
    expect(statusText({ ...statusNow(), engine: byGit }, String, shownBy)).to.include(
      'sync connect ssh HOST',
    );
    expect(() => findMachine(folder(), 'laptop', ID)).to.throw(/only other machines can be forgotten/);
    expect(() => findMachine(folder(), 'phone', ID)).to.throw(/No other machine is named/);
    expect(findMachine(folder(), 'Desktop', ID).id).to.equal('bbbbbbbbbbbb');
    publish({ ...deps(), machine: { ...deps().machine, name: 'bbbbbbbbbbbb' } });
    expect(findMachine(folder(), 'bbbbbbbbbbbb', ID).id).to.equal('bbbbbbbbbbbb');
    expect(findMachine(folder(), 'bbb', ID).id).to.equal('bbbbbbbbbbbb');
    markLeft(other);
    const shown = statusText(statusNow(), (iso) => iso.slice(0, 10), shownBy);
    expect(shown).to.include(
      'desktop: left 2026-11-21; its days stay. To delete them: steward sync forget desktop',
    );
    expect(shown).to.match(/bbbbbbbbbbbb +left /);
    // A machine that left has no folder until it is set up again.
    writeState(other.state, withFolder(withFolder(readState(other.state), undefined), folder()));
    publish(other);
    expect(statusText(statusNow(), String, shownBy)).to.match(/bbbbbbbbbbbb +up to date /);
    expect(unpublish(deps(), [])).to.equal(4);
    expect(syncStatus(input).machines.map(({ name }) => name)).to.deep.equal(['desktop']);
    expect(hintOf(() => findMachine(folder(), ID, ID))).to.equal(
      'Machines that you can forget: desktop (bbbbbbbbbbbb).',
    );
    expect(hintOf(() => findMachine(folder(), 'x', 'bbbbbbbbbbbb'))).to.include('nothing to forget');
    expect(findMachine(folder(), 'bbbbbbbbbbbb', ID).path).to.equal(path('exchange/machines/bbbbbbbbbbbb'));
  });

  it('says for each machine what was published and what came', () => {
    publish(deps());
    publish({ ...deps(), state: path('other.json'), machine: { ...deps().machine, id: 'bbbbbbbbbbbb' } });
    const { machines } = statusNow();
    const text = (changed: string[], isPushed = false): string[] =>
      newsText(
        machines.map((machine) => newsOf(machine, changed)),
        isPushed,
        (iso) => iso.slice(0, 10),
      ).split('\n');
    expect(text([])).to.deep.equal([
      'laptop-0123 (this machine) has nothing new to publish.',
      'laptop-bbbb: nothing new since 2026-11-21.',
    ]);
    const own = [`daily/${DAY}.json`, `usage/${DAY}.json`, 'daily/2026-11-19.json'].map(
      (name) => `/x/machines/${ID}/${name}`,
    );
    const theirs = ['machine.json', `daily/${DAY}.json`, 'settings.json'];
    expect(text([...own, ...theirs.map((name) => `C:\\machines\\bbbbbbbbbbbb\\${name}`)])).to.deep.equal([
      'laptop-0123 (this machine) published 2 days.',
      'laptop-bbbb: 1 day and settings came, written 2026-11-21.',
    ]);
    expect(text([], true)[0]).to.include('pushed what it had published before');
    expect(newsText([], false, String)).to.equal('No other machine has published here yet.');
  });

  it('says that the folder is gone if it disappears during a run, and what remains after leaving', async () => {
    days[DAY] = () => {
      rmSync(folder(), { recursive: true });
      return { record: undefined, parts: undefined, usage: USAGE };
    };
    const gone = `Exchange folder not found: ${folder()}.`;
    expect(() => inFolder(folder(), () => publish(deps()))).to.throw(gone);
    const late = inFolder(folder(), () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOENT' })));
    expect(await late.catch(String)).to.include(gone);
    expect(existsSync(folder())).to.equal(false);
    expect(noFolder(['/old', 'ann/days']).hint).to.include(
      'steward sync leave /old --remove, steward sync leave ann/days --remove',
    );
  });

  it('says of each machine when its news came, what it publishes and has read, and how right its clock is', () => {
    // One time for all, whatever minute begins meanwhile.
    nowMs = Date.now();
    publish(deps());
    const other = (aheadMin: number, more: object = {}): string => {
      const at = (min: number): string => new Date(nowMs + (aheadMin + min) * 60_000).toISOString();
      const info = { format: 1, id: 'bbbbbbbbbbbb', name: 'desktop', timezone: 'UTC', version: '1.0.0' };
      const times = { lastInput: null, publishedAt: `${at(0).slice(0, 16)}Z` };
      mkdirSync(path('exchange/machines/bbbbbbbbbbbb/daily'), { recursive: true });
      copyFileSync(own('daily', `${DAY}.json`), path(`exchange/machines/bbbbbbbbbbbb/daily/${DAY}.json`));
      writeFileSync(
        path('exchange/machines/bbbbbbbbbbbb/machine.json'),
        JSON.stringify({ ...info, ...times, ...more }),
      );
      const terminal = { isTTY: false, columns: 80, color: false, unicode: true };
      return statusText(statusNow(), (iso) => iso.slice(0, 13), terminal).split('\n')[4] ?? '';
    };
    const hour = new Date(nowMs).toISOString().slice(0, 13);
    expect(other(0)).to.equal(
      `desktop: news came ${hour}; publishes days; does not say yet which of your days it has read; its clock is not known yet.`,
    );
    const read = (aheadMin: number, to: string | null, sentMin = 0) => {
      const news = `${new Date(nowMs - sentMin * 60_000).toISOString().slice(0, 16)}Z`;
      const at = new Date(nowMs + aheadMin * 60_000).toISOString();
      return { read: [{ id: ID, news, at, to }] };
    };
    expect(other(0, read(0, null))).to.match(
      /had read none of your days at \S+; its clock is right within [01] m\.$/,
    );
    expect(other(0, { name: 'laptop' })).to.match(/^laptop-bbbb: /);
    expect(other(10, read(10, DAY))).to.match(
      new RegExp(`had read your days up to ${DAY} at .*; its clock is 1[01] m ahead, ± 1 m\\.$`),
    );
    expect(other(-30, read(-30, DAY))).to.match(/its clock is (29|3[01]) m behind, ± 1 m\.$/);
    // News that came late leaves more open, and times of a third clock everything.
    expect(other(-30, read(-30, DAY, 60))).to.match(/its clock is right within 3[01] m\.$/);
    expect(other(20, read(-20, DAY))).to.include('its clock is not known yet');
    nowMs += 6 * 3_600_000;
    publish(deps());
    const { read: mine } = JSON.parse(readFileSync(own('machine.json'), 'utf8')) as { read: object[] };
    expect(mine).to.have.length(1);
    expect(mine[0]).to.include({ id: 'bbbbbbbbbbbb', to: DAY });
  });

  const statusNow = (isDeep = false) => ({
    ...{ engine: null, pendingFormer: pendingFormer(readState(deps().state)) },
    ...syncStatus({
      ...{ folder: folder(), details, state: readState(deps().state), ownId: ID, nowMs, timezone: 'UTC' },
      ...{ isDeep, shared: '/none' },
    }),
  });

  it('says whether published files contain details, also if the setting or a failed run says otherwise', () => {
    const shown = () =>
      statusText(statusNow(), String, { isTTY: false, columns: 80, color: false, unicode: true }).split(
        '\n',
      )[0];
    const warned = () => pendingTexts(statusNow()).map(({ text }) => text);
    expect(shown()).to.match(/\(without details from the next publication\)$/);
    publish(deps());
    expect(shown()).to.match(/\(without details\)$/);
    [details, mark] = [true, 2];
    expect(shown()).to.match(/\(without details until the next publication\)$/);
    const read = days[DAY];
    days[DAY] = () => expect.fail('interrupted');
    expect(() => publish(deps())).to.throw('interrupted');
    expect(shown()).to.match(/\(with details\)$/);
    days[DAY] = read ?? expect.fail();
    publish(deps());
    [details, mark] = [false, 3];
    expect(shown()).to.match(/\(with details until the next publication\)$/);
    expect(warned()).to.deep.equal(['details are still published']);
    publish(deps());
    expect(shown()).to.match(/\(without details\)$/);
    expect(warned()).to.deep.equal([]);
  });

  it('reports unreadable files of recent days without reading every day', () => {
    publish(deps());
    for (let at = 1; at <= 8; at += 1) writeFileSync(own('daily', `2026-10-0${at}.json`), '{"format":2}');
    const damaged = statusNow().damaged.map(({ path: name }) => name.slice(-15));
    expect(damaged).to.deep.equal(['2026-10-08.json']);
    expect(statusNow(true).damaged).to.have.length(8);
    writeFileSync(own('machine.json'), '{"format":2}');
    expect(damagedText(statusNow())).to.equal(`machines/${ID}/machine.json: needs a newer steward`);
  });

  it('lists conflict copies and damaged files', () => {
    publish(deps());
    writeFileSync(own('daily', `${DAY}.sync-conflict-20261120-101010-ABCDEFG.json`), '{}');
    writeFileSync(own('usage', `${DAY}.json`), '{"format":1,"rows":[');
    const found = statusNow(true);
    expect(found.conflicts).to.deep.equal([
      `machines/${ID}/daily/${DAY}.sync-conflict-20261120-101010-ABCDEFG.json`,
    ]);
    expect(found.damaged).to.deep.equal([{ path: `machines/${ID}/usage/${DAY}.json`, reason: 'damaged' }]);
  });
});

describe('the exchange folder that you choose (lib)', () => {
  const { path } = scratch();

  it('is created if its parent exists, and must not contain steward’s files or be inside them', () => {
    mkdirSync(path('area'));
    prepareFolder(path('sync'), [path('area')]);
    expect(readdirSync(path('sync'))).to.deep.equal(['machines']);
    prepareFolder(path('sync'), [path('area')]);
    expect(() => prepareFolder(path('no', 'sync'), [path('area')])).to.throw(/no does not exist/);
    expect(() => prepareFolder(path('area', 'x'), [path('area')])).to.throw(/overlaps with/);
    expect(() => prepareFolder(path(), [path('area')])).to.throw(/overlaps with/);
    expect(() => prepareFolder('/proc/steward', [path('area')])).to.throw();
    writeFileSync(path('file'), '');
    expect(() => prepareFolder(path('file'), [path('area')])).to.throw();
    expect(readdirSync(path('area'))).to.deep.equal([]);
  });
});
