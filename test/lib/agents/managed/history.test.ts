import { expect } from 'chai';
import fc from 'fast-check';

import type { EventQuery, ManagedClient, Page } from '../../../../src/lib/agents/managed/client';
import type { ManagedEvent } from '../../../../src/lib/agents/managed/event';
import { openHistory, readHistory } from '../../../../src/lib/agents/managed/reader';
import { long } from '../../../helpers/long';

/** A log that grows, served in pages of a size, with cursors that name a place. */
function logOf(ids: string[], pageSize: number): Pick<ManagedClient, 'events'> & { asked: EventQuery[] } {
  const asked: EventQuery[] = [];
  return {
    asked,
    events: (_session, query): Promise<Page<ManagedEvent>> => {
      asked.push(query);
      const from = Number(query.page ?? 0);
      const to = from + Math.min(query.limit ?? 20, pageSize);
      const data = ids.slice(from, to).map((id) => ({ id, type: 'agent.message' }));
      return Promise.resolve({ data, next: to < ids.length ? String(to) : undefined });
    },
  };
}

describe('managed: reading the history', () => {
  long('gives every event in order, whatever the growth and the page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 1000 }),
        async (growth, pageSize) => {
          const ids: string[] = [];
          const history = openHistory(logOf(ids, pageSize), 's');
          const seen = new Set<string>();
          for (const more of growth) {
            for (let index = 0; index < more; index += 1) ids.push(`e${ids.length}`);
            await readHistory(history, (events) => {
              for (const { key } of events) seen.add(key);
              return Promise.resolve();
            });
            expect([...seen]).to.deep.equal(ids);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads at most a hundred events again', async () => {
    const ids = Array.from({ length: 950 }, (_, index) => `e${index}`);
    const client = logOf(ids, 1000);
    const history = openHistory(client, 's');
    let read = 0;
    const take = (events: readonly unknown[]): Promise<void> => {
      read += events.length;
      return Promise.resolve();
    };
    await readHistory(history, take);
    for (let look = 0; look < 3; look += 1) {
      ids.push(`e${ids.length}`);
      read = 0;
      await readHistory(history, take);
    }
    expect(read).to.be.at.most(100);
  });

  it('identifies events without an id by the event before them', async () => {
    const ids = ['a', '', '', 'b', ''];
    const history = openHistory(logOf(ids, 2), 's');
    const reads: string[][] = [];
    for (let look = 0; look < 2; look += 1) {
      await readHistory(history, (events) => {
        reads.push(events.map(({ key }) => key));
        return Promise.resolve();
      });
    }
    expect(new Set(reads.flat()).size).to.equal(5);
  });
});
