import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { knownMachines, type StoredDays } from '../../../src/lib/sync/machine-days';
import { usageOfMachines } from '../../../src/lib/sync/machine-usage';
import { findMachine, syncStatus } from '../../../src/lib/sync/status';
import { statusText } from '../../../src/lib/sync/view';
import { machineTimeline } from '../../../src/lib/time/machines/timeline';
import { unionDays } from '../../../src/lib/time/machines/read';
import { mergeUsage } from '../../../src/lib/usage/machines';
import { writeMutatedTree } from '../../helpers/exchange-tree';
import { MACHINES, machineDay } from '../../helpers/machines';
import { campaign } from '../../helpers/random';
import { scratch } from '../../helpers/scratch';

const OWN = MACHINES[0];
const OTHER = MACHINES[1].id;
const DAYS = ['2026-11-19', '2026-11-20'];
/** `STEWARD_TREES=20000` reads that many damaged trees. */
const TREES = Number(process.env['STEWARD_TREES'] ?? 200);

describe('the reader of exchanged files, on damaged trees', function () {
  this.timeout(0);
  const { path } = scratch();
  const ownRecord = machineDay(OWN.id, [['09:30', '10:30', 'Firefox']]).record;
  const stored: StoredDays = {
    ...{ loggedDays: () => [], recordedDays: () => ['2026-11-20'], today: () => '2026-11-25', kept: [] },
    filesOf: () => [],
    readRecord: (day) => (day === '2026-11-20' ? structuredClone(ownRecord) : undefined),
    readLogged: () => expect.fail('no log'),
  };

  /** Everything that commands read from the exchange folder. */
  function readAll(folder: string): unknown[] {
    const damaged: string[] = [];
    const note = (name: string, reason: string): unknown => damaged.push(`${name}: ${reason}`);
    const known = knownMachines(OWN, stored, { folder, isCopy: false }, note);
    const machines = known.choose(new Set([OWN.id, ...known.others.map(({ id }) => id)]));
    const records = machines === undefined ? [] : [...unionDays(machines, DAYS).values()];
    const bounds = { startMs: Date.parse('2026-11-20T00:00:00Z'), endMs: Date.parse('2026-11-21T00:00:00Z') };
    const timelines = machines?.others('2026-11-20').map((parts) => machineTimeline(parts, bounds));
    const usage = usageOfMachines(
      {
        own: OWN,
        source: { folder, isCopy: false },
        machine: undefined,
        from: '2026-11-01',
        to: '2026-11-30',
      },
      () => [],
      mergeUsage,
      (text) => damaged.push(text),
    );
    const status = syncStatus({
      ...{ folder, details: false, state: { days: {}, removals: [] }, ownId: OWN.id, timezone: 'UTC' },
      ...{ nowMs: Date.parse('2026-11-21T10:00:00Z'), isDeep: true, shared: '/none' },
    });
    const terminal = { isTTY: false, columns: 80, color: false, unicode: true };
    const text = statusText({ ...status, engine: null, pendingFormer: [] }, String, terminal);
    if (known.others.length > 0) findMachine(folder, OTHER, OWN.id);
    const minutes = records.map(({ totalMinutes }) => totalMinutes);
    expect(Math.max(0, ...minutes)).to.be.at.most(3000);
    return [records, timelines, usage, damaged, text];
  }

  it('costs a row in the status at most, never a command or an impossible number', () => {
    const random = campaign(`${TREES} trees`);
    for (let n = 0; n < TREES; n += 1) {
      const folder = path('exchange');
      rmSync(folder, { recursive: true, force: true });
      const damage = writeMutatedTree(folder, OTHER, random);
      try {
        const numbers: unknown[] = [];
        const text = JSON.stringify(readAll(folder), (_key, value: unknown) => {
          if (typeof value === 'number' && !Number.isFinite(value)) numbers.push(value);
          return value;
        });
        expect(numbers).to.deep.equal([]);
        expect(text.includes('\\u001b')).to.equal(false);
      } catch (error) {
        throw new Error(`tree ${n} (${damage}) in ${join(folder, 'machines', OTHER)}`, { cause: error });
      }
    }
  });
});
