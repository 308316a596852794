import { expect } from 'chai';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { appFocusSource } from '../../../src/lib/sense/app-focus';
import { addObservation, intervalsAfter, type FocusTimeline } from '../../../src/lib/sense/focus-timeline';
import { purge, type PurgeResult, type PurgeSelection } from '../../../src/lib/sense/purge';
import { purgeText } from '../../../src/lib/sense/view-status';
import { rollup } from '../../../src/lib/sense/roll';
import type { SenseEvent } from '../../../src/lib/time/event';
import { commit, filesIn, focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { thrown } from '../../helpers/errors';

describe('sense: purge', () => {
  let box: SenseBox;
  const list: SenseEvent[] = [];

  /** Three days: one whose raw log is discarded, one that is recorded, and today. */
  beforeEach(async () => {
    box = senseBox();
    list.length = 0;
    const captureAt = async (iso: string, ...events: SenseEvent[]): Promise<void> => {
      box.at(iso);
      list.push(...events);
      await box.capture({ sources: [listSource('git', list)] });
    };
    await captureAt('2026-10-01T12:00:00Z', focus('2026-10-01T09:00:00Z', 'Solitaire'), commit('2026-10-01T09:30:00Z', 'secret', 'a'));
    await captureAt('2026-11-19T12:00:00Z', focus('2026-11-19T09:00:00Z', 'Solitaire'), focus('2026-11-19T09:02:00Z', 'Code'), commit('2026-11-19T09:30:00Z', 'app', 'b'));
    await captureAt('2026-11-20T12:00:00Z', focus('2026-11-20T09:00:00Z', 'solitaire'), commit('2026-11-20T09:30:00Z', 'secret', 'c'));
    box.told.length = 0;
  }); // prettier-ignore
  afterEach(() => box.remove());

  const run = (selection: PurgeSelection, dryRun = false): PurgeResult => purge(box.deps, selection, dryRun);
  const captureAgain = () => box.capture({ sources: [listSource('git', list)] });
  const eventsOf = (day: string): unknown[] => box.lines(`events/${day}.jsonl`);

  it('removes a day, and a capture does not bring it back', async () => {
    writeFileSync(box.store.logOf('2026-11-19'), 'noise\n', { flag: 'a' });
    await captureAgain();
    box.told.length = 0;
    const insight = box.write('sense/insights/2026-11-19.json', '{}');
    const result = run({ from: '2026-11-19', to: '2026-11-19' });
    expect(result).to.deep.equal({
      dryRun: false,
      from: '2026-11-19',
      to: '2026-11-19',
      events: 4,
      logs: ['2026-11-19'],
      rebuilt: [],
      removed: ['2026-11-19'],
      kept: [],
      insights: ['2026-11-19'],
      repo: null,
    });
    expect(box.told, 'the goals are told').to.deep.equal(['2026-11-20']);
    expect(
      Object.keys(filesIn(box.area.sense.root)).filter((name) => name.includes('2026-11-19')),
    ).to.deep.equal([]);
    expect(existsSync(insight)).to.equal(false);
    await captureAgain();
    expect(eventsOf('2026-11-19')).to.deep.equal([]);
    expect(box.record('2026-11-19').totalMinutes).to.equal(0);
  });

  it('removes the days before a day, with or without their logs', () => {
    const result = run({ from: '1970-01-01', to: '2026-11-19' });
    expect(result.removed).to.include.members(['2026-10-01', '2026-11-19']);
    expect(result.logs).to.deep.equal(['2026-11-19']);
    expect(box.store.recordedDays()).to.deep.equal([]);
    expect(box.store.loggedDays()).to.deep.equal(['2026-11-20']);
  });

  it('removes an application in any case, and rebuilds the records', () => {
    const result = run({ app: 'SOLITAIRE' });
    expect(result).to.deep.include({ events: 2, logs: ['2026-11-19', '2026-11-20'], rebuilt: ['2026-11-19'], removed: [] });
    expect(result.kept, 'its raw log is discarded').to.deep.equal(['2026-10-01']);
    expect(box.record('2026-11-19').apps.map(({ app }) => app)).to.deep.equal(['Code']);
    expect(box.record('2026-11-19').commits.count).to.equal(1);
    expect(box.read('sense/daily/2026-11-19.md')).not.to.include('Solitaire');
    expect(JSON.stringify(eventsOf('2026-11-20'))).not.to.match(/solitaire/i);
    expect(box.told.length).to.be.at.least(1);
  }); // prettier-ignore

  it('removes records that cannot be rebuilt, on request', () => {
    const result = run({ app: 'Solitaire', records: true });
    expect(result).to.deep.include({ removed: ['2026-10-01'], kept: [] });
    expect(box.store.hasRecord('2026-10-01')).to.equal(false);
  });

  it('removes a repository by name or path', () => {
    expect(run({ repo: 'secret' })).to.deep.include({
      events: 1,
      logs: ['2026-11-20'],
      kept: ['2026-10-01'],
    });
    expect(run({ repo: '/src/app' })).to.deep.include({ events: 1, rebuilt: ['2026-11-19'] });
    expect(box.record('2026-11-19').commits.count).to.equal(0);
  });

  it('removes a record whose ledger alone names the repository, on request', async () => {
    const detail = { session: 's', state: 'working' };
    const state = {
      ts: '2026-10-02T09:00:00.000Z',
      type: 'session-state' as const,
      source: 'agentSession',
      repo: 'client',
      detail,
    };
    list.push(state, focus('2026-10-02T09:02:00Z', 'Code'));
    box.store.prepare();
    box.store.rewriteLog('2026-10-02', list.slice(-2));
    await box.capture();
    expect(box.record('2026-10-02').ledger?.agents.map(({ repo }) => repo)).to.deep.equal(['client']);
    expect(run({ repo: 'client', records: true }).removed).to.deep.equal(['2026-10-02']);
  });

  it('removes an application of one day only', () => {
    expect(run({ app: 'solitaire', from: '2026-11-20', to: '2026-11-20' })).to.deep.include({
      logs: ['2026-11-20'],
      kept: [],
    });
    expect(JSON.stringify(eventsOf('2026-11-19'))).to.include('Solitaire');
  });

  it('removes everything', async () => {
    writeFileSync(box.store.logOf('2026-11-19'), 'noise\n', { flag: 'a' });
    list.push(commit('2026-10-01T20:00:00Z', 'secret', 'late'));
    await captureAgain();
    expect(box.lines('quarantine/late.jsonl')).to.have.length(1);
    box.write('sense/quarantine/state.json', '{"cursors":{"git":"/src/secret"}');
    run({ all: true });
    expect(Object.keys(filesIn(box.area.sense.root))).to.deep.equal(['state.json']);
    expect(box.state()).to.deep.include({ rolled: {}, zones: {}, pending: [] });
    expect((await captureAgain()).events, 'what was removed is not captured again').to.equal(0);
  });

  it('removes matching late events only', async () => {
    list.push(commit('2026-10-01T20:00:00Z', 'secret', 'x'), commit('2026-10-01T21:00:00Z', 'app', 'y'));
    await captureAgain();
    run({ repo: 'secret' });
    expect(box.lines('quarantine/late.jsonl')).to.have.length(1);
    run({ from: '2026-10-02', to: '2026-10-02' });
    expect(box.lines('quarantine/late.jsonl')).to.have.length(1);
    run({ from: '2026-10-01', to: '2026-10-01' });
    expect(existsSync(join(box.area.sense.quarantine, 'late.jsonl'))).to.equal(false);
  });

  it('is not undone by pending lines', async () => {
    const plan = box.store.planAppend('2026-11-20', [focus('2026-11-20T11:00:00Z', 'Solitaire')]);
    box.store.writeState({ ...box.store.readState().state, pending: [plan] });
    run({ app: 'solitaire' });
    await captureAgain();
    expect(JSON.stringify(eventsOf('2026-11-20'))).not.to.match(/solitaire/i);
  });

  describe('with a watched focus', () => {
    let timeline: FocusTimeline;
    let config: {
      pollIntervalSec: number;
      idleAfterSec: number;
      countsAsActive: string[];
      exclude: string[];
    };
    beforeEach(() => {
      timeline = { done: [] };
      config = { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] };
    });
    const seen = (time: string, app: string, pane: { repo?: string } = {}): void => {
      const path = pane.repo === undefined ? {} : { path: `/src/${pane.repo}` };
      const focus = { app, ...pane, detail: { via: 'x11', bundleId: `org.${app}`, ...path } };
      addObservation(timeline, Date.parse(`2026-11-20T${time}Z`), { state: 'focus', focus });
    };
    /** Stores what the daemon observed until this time. */
    const flushAt = async (time: string): Promise<string[]> => {
      const stored = eventsOf('2026-11-20').length;
      box.at(`2026-11-20T${time}Z`);
      const since = (ms: number) =>
        Promise.resolve({ intervals: intervalsAfter(timeline, ms), now: undefined });
      const desktop = recordedDesktop('linux', {});
      const source = appFocusSource({ desktop, config, machineId: 'm', timezone: 'UTC', watch: { since } });
      await box.capture({ sources: [source] });
      const added = box.lines('events/2026-11-20.jsonl').slice(stored) as SenseEvent[];
      return added.map(
        ({ ts, app, detail }) => `${ts.slice(11, 19)} ${app} ${Number(detail?.['intervalSec'])}`,
      );
    };

    for (const selection of [
      { all: true },
      { app: 'Solitaire' },
      { from: '2026-11-20', to: '2026-11-20' },
      { from: '1970-01-01', to: '2026-11-20' },
    ]) {
      it(`drops intervals that are not stored yet: ${JSON.stringify(selection)}`, async () => {
        seen('13:00:00', 'Solitaire');
        seen('13:00:30', 'Solitaire');
        expect(await flushAt('13:00:30')).to.deep.equal(['13:00:30 Solitaire 30']);
        seen('13:01:15', 'Solitaire');
        box.at('2026-11-20T13:01:20Z');
        run(selection);
        seen('13:01:40', 'Code');
        seen('13:02:00', 'Code');
        expect(await flushAt('13:02:00')).to.deep.equal(['13:01:40 Solitaire 20', '13:02:00 Code 20']);
      });
    }

    /** What a purge at 13:01:20 leaves of Solitaire until 13:00:40, then Code in the repository `app`. */
    const cases: [PurgeSelection, string[]][] = [
      [{ app: 'solitaire' }, ['13:01:40 Code 60']],
      [{ app: 'ORG.CODE' }, ['13:00:40 Solitaire 40', '13:01:40 Code 20']],
      [{ repo: 'App' }, ['13:00:40 Solitaire 40', '13:01:40 Code 20']],
      [{ repo: '/src/app' }, ['13:00:40 Solitaire 40', '13:01:40 Code 20']],
      [{ repo: 'secret' }, ['13:00:40 Solitaire 40', '13:01:40 Code 60']],
      [{ app: 'app' }, ['13:00:40 Solitaire 40', '13:01:40 Code 60']],
      [{ app: 'site:docs.rs' }, ['13:00:40 Solitaire 40', '13:01:40 Code 60']],
      [{ app: 'Code', to: '2026-11-19' }, ['13:00:40 Solitaire 40', '13:01:40 Code 60']],
      [{ from: '2026-11-21' }, ['13:00:40 Solitaire 40', '13:01:40 Code 60']],
    ];
    for (const [selection, left] of cases)
      it(`keeps what is not stored yet and not selected: ${JSON.stringify(selection)}`, async () => {
        seen('13:00:00', 'Solitaire');
        seen('13:00:40', 'Code', { repo: 'app' });
        seen('13:01:15', 'Code', { repo: 'app' });
        box.at('2026-11-20T13:01:20Z');
        run(selection);
        seen('13:01:40', 'Code', { repo: 'app' });
        expect(await flushAt('13:01:40')).to.deep.equal(left);
        const { purges } = box.state()['cursors'] as { purges: unknown };
        expect(JSON.stringify(purges)).to.not.match(/code|app|docs/i);
      });

    it('cuts a sample at a purge of its application', async () => {
      box.at('2026-11-20T13:01:00Z');
      run({ app: 'Code' });
      list.push(focus('2026-11-20T13:02:00Z', 'Code', 120), focus('2026-11-20T13:02:00Z', 'Mail', 120));
      box.at('2026-11-20T13:02:00Z');
      await captureAgain();
      const added = (eventsOf('2026-11-20') as SenseEvent[]).filter(({ ts }) => ts.includes('T13:02'));
      expect(added.map(({ app, detail }) => [app, detail?.['intervalSec']])).to.deep.equal([
        ['Code', 60],
        ['Mail', 120],
      ]);
    });

    it('drops them also if sleep delays the capture', async () => {
      seen('13:00:00', 'Solitaire');
      seen('13:00:30', 'Solitaire');
      box.at('2026-11-20T13:00:30Z');
      run({ app: 'Solitaire' });
      expect(await flushAt('20:00:00')).to.deep.equal([]);
    });

    it('keeps them if the purge covers other days only, or is a dry run', async () => {
      seen('13:00:00', 'Solitaire');
      seen('13:00:30', 'Solitaire');
      box.at('2026-11-20T13:00:30Z');
      run({ from: '1970-01-01', to: '2026-11-19' });
      run({ all: true }, true);
      expect(await flushAt('13:00:30')).to.deep.equal(['13:00:30 Solitaire 30']);
    });

    it('drops an application that was excluded after it was observed', async () => {
      for (const exclude of ['SOLITAIRE', 'org.solitaire']) {
        timeline = { done: [] };
        config.exclude = [exclude];
        seen('13:00:00', 'Solitaire');
        seen('13:00:30', 'Code');
        seen('13:01:00', 'Solitaire');
        seen('13:01:30', 'Solitaire');
        expect(await flushAt('13:01:30')).to.deep.equal(['13:01:00 Code 30']);
        box.at('2026-11-20T12:00:00Z');
        box.store.writeState({ ...box.store.readState().state, cursors: {} });
      }
    });
  });

  it('removes insights, also without a log or record', () => {
    for (const day of ['2026-09-01', '2026-10-01', '2026-11-19', '2026-11-20']) {
      box.write(`sense/insights/${day}.json`, '{}');
    }
    expect(run({ app: 'Code' }, true).insights).to.deep.equal(['2026-11-19']);
    expect(run({ app: 'Code' }).insights).to.deep.equal(['2026-11-19']);
    expect(run({ repo: 'secret' }).insights).to.deep.equal(['2026-10-01', '2026-11-20']);
    expect(purgeText(run({ all: true }, true))).to.match(/insights removed: 2026-09-01$/m);
    expect(run({ all: true }).insights).to.deep.equal(['2026-09-01']);
    expect(box.store.insightDays()).to.deep.equal([]);
  });

  it('does not list failed insights and empty records, but removes them', () => {
    const failed = box.write(
      'sense/insights/2026-11-20.json',
      '{"version":1,"date":"2026-11-20","read":null,"failed":{"at":"2026-11-20T10:00:00Z","reason":"no claude"}}',
    );
    run({ from: '2026-11-20', to: '2026-11-20' });
    expect(existsSync(failed)).to.equal(false);
    box.write('sense/insights/2026-11-20.json', '{"version":1,"read":null}');
    rollup(box.deps);
    expect(box.store.recordState('2026-11-20')).to.equal('empty');
    expect(purgeText(run({ from: '2026-11-20', to: '2026-11-20', records: true }))).to.match(
      /^No stored data matches/,
    );
    expect([box.store.hasRecord('2026-11-20'), box.store.insightDays()]).to.deep.equal([false, []]);
  });

  it('changes nothing in a dry run, with the same result', () => {
    const before = filesIn(box.area.root);
    const selections: PurgeSelection[] = [{ from: '2026-11-19', to: '2026-11-19' }, { from: '1970-01-01', to: '2026-11-19' }, { app: 'code' }, { all: true }];
    for (const selection of selections) {
      const dry = run(selection, true);
      expect(filesIn(box.area.root)).to.deep.equal(before);
      expect(dry.logs.length + dry.removed.length).to.be.at.least(1);
    }
    const dry = run({ app: 'solitaire' }, true);
    expect({ ...run({ app: 'solitaire' }), dryRun: true }).to.deep.equal(dry);
  }); // prettier-ignore

  it('works with a lost state, which stays lost', async () => {
    rmSync(box.area.sense.state);
    run({ app: 'code' });
    await captureAgain();
    expect(eventsOf('2026-11-20')).to.have.length(2);
  });

  it('returns the selected days, also without a match', () => {
    const textOf = ({ ...selection }: PurgeSelection, dryRun = true): string =>
      purgeText({ ...selection, ...run(selection, dryRun) });
    expect(textOf({ from: '1970-01-01', to: '2026-11-19' })).to.match(
      /^Would remove \(Thu 1 Jan 1970 to Thu 19 Nov 2026\), with --yes:$/m,
    );
    expect(textOf({ from: '2026-10-02', to: '2026-10-02' })).to.equal(
      'No stored data matches (only Fri 2 Oct 2026).',
    );
    expect(textOf({ from: '2026-11-19', to: '2026-11-19', app: 'code' }, false)).to.match(
      /^Removed \(only Thu 19 Nov 2026\):$/m,
    );
    expect(textOf({ all: true })).to.match(/^Would remove, with --yes:$/m);
    expect(textOf({ all: true })).to.match(/^ {2}records removed: /m);
    expect(textOf({ app: 'Solitaire' })).to.match(/^ {2}records not rebuilt, .* 2026-10-01$/m);
    expect(textOf({ app: 'Solitaire', records: true })).to.match(
      /^ {2}records removed with everything else in them, because their event logs were deleted: 2026-10-01$/m,
    );
    expect(textOf({ app: 'docs.rs' })).to.equal(
      'No stored data matches. For a site, use --app site:docs.rs.',
    );
  });

  it('refuses what is no name of an application or a site', () => {
    for (const app of [' ', 'site:', 'site:https://docs.rs', 'site:-a-.com'])
      expect(thrown(() => run({ app })).kind, app).to.equal('usage');
  });

  it('refuses no selection, and all with another one', () => {
    expect(thrown(() => run({})).kind).to.equal('usage');
    expect(thrown(() => run({ all: true, app: 'x' })).kind).to.equal('usage');
  });
});
