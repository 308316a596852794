import { expect } from 'chai';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';

import { fileMemory, type FileMemory } from '../../../src/lib/platform/files/file-cache';
import { knownMachines, type StoredDays } from '../../../src/lib/sync/machine-days';
import { filesOf } from '../../../src/lib/sync/publish';
import { keepCopy } from '../../../src/lib/sync/received';
import { chooseMachines, readAhead, unionDays, type Machines } from '../../../src/lib/time/machines/read';
import { machineDay, MACHINES } from '../../helpers/machines';
import { scratch } from '../../helpers/scratch';

const DAYS = ['2026-11-19', '2026-11-20', '2026-11-21'];

describe('merged days in a long-running process (lib)', () => {
  const { path } = scratch();
  /** A memory that counts what it had to make. */
  function counting(): { memory: FileMemory; made: () => number } {
    const memory = fileMemory({ now: () => Date.now() + 1000 }, 20);
    let count = 0;
    const get: FileMemory['get'] = (key, paths, make) =>
      memory.get(key, paths, () => {
        count += 1;
        return make();
      });
    return {
      memory: { ...memory, get },
      made() {
        const before = count;
        count = 0;
        return before;
      },
    };
  }
  const publish = (id: string, name: string): void => {
    const own = path('machines', id);
    mkdirSync(path('machines', id, 'daily'), { recursive: true });
    const info = { format: 1, id, name, timezone: 'UTC', version: '1' };
    const times = { lastInput: null, publishedAt: '2026-11-20T09:42Z' };
    writeFileSync(path('machines', id, 'machine.json'), JSON.stringify({ ...info, ...times }));
    for (const date of DAYS) {
      const { record, spans } = machineDay(id, [['09:00', '10:00', 'Code', 'shop']], { date });
      const day = { format: 1, record, spans: [...spans], commits: [] };
      for (const file of filesOf(own, date, { day, sessions: [], usage: [] }))
        writeFileSync(path('machines', id, file.path), file.text);
    }
  };

  it('are read in parts, once, and after a change only the file that changed', async () => {
    for (const { id, name } of MACHINES) publish(id, name);
    const [days, merged] = [counting(), counting()];
    const stored: StoredDays = {
      ...{ loggedDays: () => [], recordedDays: () => [], today: () => '2026-11-25', kept: [] },
      ...{ filesOf: () => [], readRecord: () => undefined },
      readLogged: () => expect.fail('no log'),
      memory: { days: days.memory, merged: merged.memory },
    };
    const machines = (): Machines => {
      const source = { folder: path(), isCopy: false };
      const known = knownMachines({ id: 'dddddddddddd', name: 'this' }, stored, source, () => undefined);
      return chooseMachines(known) ?? expect.fail('no machines');
    };
    let pauses = 0;
    const ahead = () => readAhead(machines(), ['2026-11-20'], () => Promise.resolve(void (pauses += 1)));
    await ahead();
    expect([days.made(), merged.made(), pauses]).to.deep.equal([9, 1, 4]);
    const before = unionDays(machines(), ['2026-11-20']);
    await ahead();
    expect([days.made(), merged.made(), pauses]).to.deep.equal([0, 0, 4]);
    utimesSync(path('machines', MACHINES[1].id, 'daily', '2026-11-21.json'), 1, 1);
    expect(unionDays(machines(), ['2026-11-20'])).to.deep.equal(before);
    expect([days.made(), merged.made()]).to.deep.equal([1, 1]);
    delete stored.memory;
    expect(unionDays(machines(), ['2026-11-20'])).to.deep.equal(before);
    expect([days.made(), merged.made()]).to.deep.equal([0, 0]);
  });

  it('are forgotten when what a machine has published for them changes or goes', () => {
    for (const { id, name } of MACHINES) publish(id, name);
    const copy = path('received');
    const around = ['2026-11-18', ...DAYS, '2026-11-22'];
    const left = (): string[] => {
      keepCopy(path(), copy);
      const days = around.filter((day) => existsSync(path('received', 'merged', `${day}.json`)));
      mkdirSync(path('received', 'merged'), { recursive: true });
      for (const day of around) writeFileSync(path('received', 'merged', `${day}.json`), '{}');
      return days;
    };
    expect(left()).to.deep.equal([]);
    expect(left()).to.deep.equal(around);
    utimesSync(path('machines', MACHINES[1].id, 'daily', '2026-11-21.json'), 1, 1);
    expect(left()).to.deep.equal(['2026-11-18', '2026-11-19']);
    rmSync(path('machines', MACHINES[0].id), { recursive: true });
    expect(left()).to.deep.equal([]);
  });
});
