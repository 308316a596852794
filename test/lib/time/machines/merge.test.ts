import { expect } from 'chai';

import { distinct, mergeDays } from '../../../../src/lib/time/machines/merge';
import type { MachineDay, UnionRecord } from '../../../../src/lib/time/machines/model';
import { minutesIn } from '../../../../src/lib/time/ledger/model';
import { MACHINES, machineDay, randomDay } from '../../../helpers/machines';
import { seeded } from '../../../helpers/random';
import { long } from '../../../helpers/long';

const DAY = '2026-11-20';
const [A, B, C] = MACHINES.map(({ id }) => id) as [string, string, string];

function merge(days: readonly MachineDay[], date = DAY): UnionRecord {
  const [record] = mergeDays(days, new Set([date]), MACHINES);
  if (record === undefined) throw new Error('no record');
  return record;
}

const minutesById = ({ machines }: UnionRecord): Record<string, number | null> =>
  Object.fromEntries(machines.map(({ name, minutes }) => [name, minutes]));

describe('sense: merging the days of several machines', () => {
  it('adds up time that does not overlap', () => {
    const record = merge([
      machineDay(A, [['09:00', '09:50', 'Code', 'shop']]),
      machineDay(B, [['10:00', '10:30', 'Firefox']]),
    ]);
    expect(record).to.include({ totalMinutes: 80, creationMinutes: 50, overlapMinutes: 0, final: true });
    expect(record.apps.map(({ app, minutes }) => [app, minutes])).to.deep.equal([
      ['Code', 50],
      ['Firefox', 30],
    ]);
    expect(record.hours.filter((hour) => hour.creation + hour.consumption > 0)).to.deep.equal([
      { start: '2026-11-20T09:00:00+00:00', creation: 50, consumption: 0, neutral: 0 },
      { start: '2026-11-20T10:00:00+00:00', creation: 0, consumption: 30, neutral: 0 },
    ]);
    expect(record.machines).to.deep.equal([
      { id: A, name: 'laptop', state: 'recorded', minutes: 50 },
      { id: B, name: 'desktop', state: 'recorded', minutes: 30 },
      { id: C, name: 'server', state: 'not-recorded', minutes: null },
    ]);
  });

  it('counts overlapping minutes once, for the machine with the fresher input', () => {
    const record = merge([
      machineDay(A, [['09:00', '10:00', 'Slack']], { idleSec: 1800 }),
      machineDay(B, [['09:20', '09:50', 'Code', 'shop']]),
    ]);
    expect(record).to.include({ totalMinutes: 60, creationMinutes: 30, overlapMinutes: 30 });
    expect(minutesById(record)).to.deep.equal({ laptop: 30, desktop: 30, server: null });
  });

  it('counts overlapping minutes for the earlier id if neither input is fresher', () => {
    const times = [['09:00', '09:30', 'Code']] as const;
    for (const days of [[machineDay(A, times), machineDay(B, times)], [machineDay(B, times), machineDay(A, times)]])
      expect(minutesById(merge(days))).to.deep.equal({ laptop: 30, desktop: 0, server: null });
  }); // prettier-ignore

  it('leaves a machine whose sums were left out of the mean of parallel sessions', () => {
    const withSums = (machine: string, parallel: { most: number; mean: number }): MachineDay => {
      const day = machineDay(machine, []);
      const cells = { working: { away: 60 } };
      const agents = [{ session: machine, assistant: null, repo: null, branch: null, cells }];
      const answers = { count: 0, medianMinutes: null, longestMinutes: null };
      const ledger = { attention: [], agents, apps: [], cells, heldUpMinutes: 0, answers, parallel };
      return { ...day, record: { ...day.record, ledger } };
    };
    const days = [withSums(A, { most: 3, mean: 1.5 }), withSums(B, { most: 0, mean: 0 })];
    expect(merge(days).ledger?.parallel).to.deep.equal({ most: 3, mean: 1.5 });
  });

  it('finds overlaps between zones, also with the days before and after', () => {
    const tokyo = machineDay(B, [['2026-11-20T15:30:00Z', '2026-11-20T16:00:00Z', 'Code']], {
      date: '2026-11-21',
      timezone: 'Asia/Tokyo',
    });
    const days = [machineDay(A, [['15:30', '16:00', 'Code']]), tokyo];
    expect(merge(days)).to.include({ totalMinutes: 30, overlapMinutes: 0, timezone: 'UTC' });
    expect(merge(days, '2026-11-21')).to.include({ totalMinutes: 0, overlapMinutes: 30 });
  });

  it('shows the hours in the zone of the freshest input', () => {
    const record = merge([
      machineDay(A, [['09:00', '09:40', 'Code']]),
      machineDay(
        B,
        [
          ['15:30', '15:50', 'Code'],
          ['16:00', '16:20', 'Code'],
        ],
        { timezone: 'Europe/Berlin' },
      ),
    ]);
    expect(record.timezone).to.equal('Europe/Berlin');
    expect(record.hours.filter(({ creation }) => creation > 0)).to.deep.equal([
      { start: '2026-11-20T10:00:00+01:00', creation: 40, consumption: 0, neutral: 0 },
      { start: '2026-11-20T16:00:00+01:00', creation: 20, consumption: 0, neutral: 0 },
      { start: '2026-11-20T17:00:00+01:00', creation: 20, consumption: 0, neutral: 0 },
    ]);
  });

  it('counts a commit once', () => {
    const record = merge([
      machineDay(A, [], { commits: [['c1', 'shop'], ['c2', 'shop']] }),
      machineDay(B, [], { commits: [['c2', 'shop'], ['c3', 'site']] }),
    ]); // prettier-ignore
    expect(record.commits).to.deep.equal({
      count: 3,
      repos: [
        { repo: 'shop', commits: 2 },
        { repo: 'site', commits: 1 },
      ],
    });
  });

  it('counts commits of two machines in one second apart, by their patches', () => {
    const seconds = Array.from({ length: 10 }, (_, i) => `c${i}`);
    const day = (machine: string, patch: string | undefined): MachineDay => {
      const made = machineDay(machine, [], { commits: seconds.map((id) => [id, 'shop'] as const) });
      return {
        ...made,
        commits: made.commits.map((each) => (patch === undefined ? each : { ...each, patch })),
      };
    };
    expect(merge([day(A, 'p'), day(B, 'q')]).commits.count).to.equal(20);
    expect(merge([day(A, 'p'), day(B, 'p')]).commits.count).to.equal(10);
    // An older version publishes no patches.
    for (const [one, two] of [
      ['p', undefined],
      [undefined, 'p'],
    ])
      expect(merge([day(A, one), day(B, two), day(C, 'p')]).commits.count).to.equal(10);
  });

  it('counts a commit of two days on the day of the machine with the lower id', () => {
    const yesterday = '2026-11-19';
    const commits = [['c1', 'shop']] as const;
    for (const [first, second, counts] of [
      [A, B, [1, 0]],
      [B, A, [0, 1]],
    ] as const) {
      const days = [machineDay(first, [], { commits, date: yesterday }), machineDay(second, [], { commits })];
      expect([merge(days, yesterday), merge(days)].map((record) => record.commits.count)).to.deep.equal(
        counts,
      );
    }
  });

  it('lists repositories and sessions by their counts, then by name', () => {
    const { commits, sessions } = merge([
      machineDay(A, [], { commits: [['c1', 'b'], ['c2', 'a']], sessions: [['s2', 5], ['s4', 20]] }),
      machineDay(B, [], { commits: [['c3', 'd'], ['c4', 'c'], ['c5', 'c']], sessions: [['s1', 5], ['s3', 20]] }),
    ]); // prettier-ignore
    expect(commits.repos.map(({ repo }) => repo)).to.deep.equal(['c', 'a', 'b', 'd']);
    expect(sessions.items.map(({ session }) => session)).to.deep.equal(['s3', 's4', 's1', 's2']);
  });

  it('names the machine of each session, and counts a session once', () => {
    const record = merge([
      machineDay(A, [], { sessions: [['s1', 10]] }),
      machineDay(B, [], { sessions: [['s1', 20], ['s2', 5]] }),
    ]); // prettier-ignore
    expect(record.sessions).to.deep.equal({
      count: 2,
      items: [
        { session: 's1', events: 30, machine: B },
        { session: 's2', events: 5, machine: B },
      ],
    });
    expect(minutesIn(record.ledger?.cells ?? {}, 'working')).to.equal(35);
  });

  it('names the machine on which most of a session happened, whichever comes first', () => {
    const day = (machine: string, events: number): MachineDay =>
      machineDay(machine, [], { sessions: [['s1', events]] });
    for (const [onA, onB, machine] of [
      [20, 10, A],
      [10, 20, B],
    ] as const)
      expect(merge([day(A, onA), day(B, onB)]).sessions.items).to.deep.equal([
        { session: 's1', events: 30, machine },
      ]);
  });

  it('counts the sessions of a copied area once', () => {
    const sessions = [['s1', 10], ['s2', 10]] as const; // prettier-ignore
    expect(merge([machineDay(A, [], { sessions }), machineDay(B, [], { sessions })]).sessions.items).to.deep.equal([
      { session: 's1', events: 10, machine: A },
      { session: 's2', events: 10, machine: A },
    ]);
  }); // prettier-ignore

  it("doesn't add a backfilled session to a captured one", () => {
    const copied = machineDay(A, [], { sessions: [['s1', 10], ['s3', 7]] }); // prettier-ignore
    copied.record.backfilled = true;
    const { sessions, machines, ledger } = merge([copied, machineDay(B, [], { sessions: [['s1', 20]] })]);
    expect(sessions.items.map(({ session, events }) => [session, events])).to.deep.equal([['s1', 20], ['s3', 7]]); // prettier-ignore
    expect(ledger?.agents.map(({ session }) => session).sort()).to.deep.equal(['s1', 's3']);
    expect(machines[0]).to.include({ state: 'recorded', minutes: null });
  });

  it('is final, or backfilled, if the day is so on every machine', () => {
    const day = (machine: string, more: Partial<MachineDay['record']>): MachineDay => {
      const made = machineDay(machine, []);
      return { ...made, record: { ...made.record, ...more } };
    };
    const flags = (...records: Partial<MachineDay['record']>[]) => {
      const { final, backfilled } = merge(records.map((record, i) => day([A, B, C][i] ?? A, record)));
      return { final, backfilled };
    };
    expect(flags({}, {})).to.deep.equal({ final: true, backfilled: undefined });
    expect(flags({ final: false }, {})).to.deep.equal({ final: false, backfilled: undefined });
    expect(flags({ backfilled: true }, {})).to.deep.equal({ final: true, backfilled: undefined });
    expect(flags({ backfilled: true }, { backfilled: true })).to.deep.equal({
      final: true,
      backfilled: true,
    });
  });

  it('was made when its latest part was, by the latest version', () => {
    const day = (machine: string, version: string, generatedAt: string): MachineDay => {
      const made = machineDay(machine, []);
      return { ...made, record: { ...made.record, version, generatedAt } };
    };
    const [early, late] = [`${DAY}T08:00:00Z`, `${DAY}T09:00:00Z`];
    for (const days of [
      [day(A, '2', early), day(B, '1', late)],
      [day(A, '1', late), day(B, '2', early)],
    ])
      expect(merge(days)).to.include({ version: '2', generatedAt: late });
  });

  it('says which machine has published only part of the day, and as of when', () => {
    const names = [{ ...MACHINES[0], asOf: `${DAY}T10:00:00Z` }, MACHINES[1]];
    const [record] = mergeDays([machineDay(B, [], { final: false })], new Set([DAY]), names);
    expect(record?.machines).to.deep.equal([
      { id: A, name: 'laptop', asOf: `${DAY}T10:00:00Z`, state: 'not-recorded', minutes: null },
      { id: B, name: 'desktop', state: 'so-far', minutes: 0 },
    ]);
  });

  it('reads the latest of several versions of a day, and the same one in any order', () => {
    const version = (hour: number, minutes: number): MachineDay => {
      const day = machineDay(A, [['09:00', `09:${minutes}`, 'Code']]);
      return { ...day, record: { ...day.record, generatedAt: `${DAY}T${hour}:00:00Z` } };
    };
    const other = machineDay(B, [], { date: '2026-11-19' });
    for (const [one, two, latest] of [
      [version(10, 30), version(11, 20), 20],
      [version(10, 20), version(10, 30), 30],
    ] as const)
      for (const days of [[one, other, two], [two, one, other]]) {
        const found = distinct(days).map(({ machine, record }) => [record.date, machine, record.totalMinutes]);
        expect(found).to.deep.equal([['2026-11-19', B, 0], [DAY, A, latest]]);
      }
  }); // prettier-ignore

  it('adds sums without times, and shows that their overlap is unknown', () => {
    const old = { ...machineDay(A, [['09:00', '10:00', 'Code']]), spans: [] };
    expect(merge([old, machineDay(B, [['09:00', '09:30', 'Code']])])).to.include({
      totalMinutes: 90,
      overlapMinutes: null,
    });
    expect(merge([old, machineDay(B, [])]).overlapMinutes).to.equal(0);
  });

  it("keeps branches and sessions of a place's time in proportion", () => {
    const day = machineDay(A, [['09:00', '10:00', 'Code', 'shop']]);
    const [row] = day.record.ledger?.attention ?? [];
    if (row === undefined || day.record.ledger === undefined) throw new Error('no row');
    day.record.ledger.attention = [
      { ...row, branch: 'a', minutes: 40 },
      { ...row, branch: 'b', minutes: 20 },
    ];
    const other = machineDay(B, [['09:15', '09:45', 'Firefox']]);
    other.spans = other.spans.map((span) => ({ ...span, input: span.to * 2 }));
    expect(
      merge([day, other]).ledger?.attention.map(({ app, branch, minutes }) => [app, branch, minutes]),
    ).to.deep.equal([
      ['Firefox', null, 30],
      ['Code', 'a', 20],
      ['Code', 'b', 10],
    ]);
  });

  describe('whatever the machines recorded', () => {
    const dates = ['2026-11-19', DAY, '2026-11-21'];
    const make = () =>
      Array.from({ length: 150 }, (_, seed) => {
        const random = seeded(seed + 1);
        const days = MACHINES.flatMap(({ id }) =>
          dates.filter(() => random.chance(0.7)).map((date) => randomDay(random, id, date)),
        );
        return { random, days };
      }).filter(({ days }) => days.some(({ record }) => record.date === DAY));
    let made: ReturnType<typeof make> | undefined;
    // Only once they are needed: they take seconds.
    const sets = () => (made ??= make());

    long('gives the same bytes in any order and with repetitions', () => {
      for (const { random, days } of sets()) {
        const bytes = JSON.stringify(mergeDays(days, new Set(dates), MACHINES));
        const shuffled = [...days, ...days.filter(() => random.chance(0.5))]
          .map((day) => ({ day: JSON.parse(JSON.stringify(day)) as MachineDay, key: random.next() }))
          .sort((a, b) => a.key - b.key)
          .map(({ day }) => day);
        const names = [...MACHINES].reverse();
        expect(JSON.stringify(mergeDays(shuffled, new Set([...dates].reverse()), names))).to.equal(bytes);
      }
    });

    long('gives the same bytes for a day alone and in a range', () => {
      for (const { days } of sets()) {
        const range = mergeDays(days, new Set(dates), MACHINES).find(({ date }) => date === DAY);
        expect(JSON.stringify(range)).to.equal(JSON.stringify(merge(days)));
      }
    });

    long("gives a single machine's own figures", () => {
      for (const { days } of sets()) {
        const day = days.find(({ record }) => record.date === DAY) as MachineDay;
        const { machines, overlapMinutes, ledger, ...record } = merge([day]);
        const { ledger: own, ...rest } = day.record;
        const sessions = {
          ...rest.sessions,
          items: rest.sessions.items.map((item) => ({ ...item, machine: day.machine })),
        };
        expect(record).to.deep.equal({ ...rest, sessions });
        expect(machines.filter(({ minutes }) => minutes !== null)).to.have.length(1);
        expect(overlapMinutes).to.equal(0);
        if (own !== undefined) {
          expect(ledger?.cells).to.deep.equal(own.cells);
          expect(ledger?.parallel).to.deep.equal(own.parallel);
        }
      }
    });

    long('adds up: kinds, applications, hours, your time, machines and the overlap', () => {
      for (const { days } of sets()) {
        const record = merge(days);
        const tenths = (list: readonly number[]): number =>
          list.reduce((sum, minutes) => sum + Math.round(minutes * 10), 0);
        const total = tenths([record.totalMinutes]);
        expect(tenths([record.creationMinutes, record.consumptionMinutes, record.neutralMinutes])).to.equal(total);
        expect(tenths(record.apps.map(({ minutes }) => minutes))).to.equal(total);
        expect(tenths(record.hours.flatMap((hour) => [hour.creation, hour.consumption, hour.neutral]))).to.equal(total);
        expect(tenths(record.ledger?.attention.map(({ minutes }) => minutes) ?? [])).to.equal(total);
        // Each machine is rounded by itself.
        expect(Math.abs(tenths(record.machines.map(({ minutes }) => minutes ?? 0)) - total)).to.be.at.most(2);
        const recorded = tenths(
          days.filter(({ record: each }) => each.date === DAY).map(({ record: each }) => each.totalMinutes),
        );
        if (record.overlapMinutes !== null)
          expect(Math.abs(recorded - total - tenths([record.overlapMinutes]))).to.be.at.most(6);
      }
    }); // prettier-ignore

    long('never counts less with one machine more', () => {
      for (const { days } of sets()) {
        for (const { id } of MACHINES) {
          const some = days.filter(({ machine }) => machine !== id);
          if (!some.some(({ record }) => record.date === DAY)) continue;
          const [all, part] = [mergeDays(days, new Set(dates), MACHINES), mergeDays(some, new Set(dates), MACHINES)];
          const sum = (list: readonly UnionRecord[]): number =>
            list.reduce((minutes, { totalMinutes }) => minutes + totalMinutes, 0);
          expect(sum(all)).to.be.at.least(sum(part) - 0.6);
          expect(merge(days).commits.count).to.be.at.least(0);
          expect(merge(days).sessions.count).to.be.at.least(merge(some).sessions.count);
        }
      }
    }); // prettier-ignore
  });
});
