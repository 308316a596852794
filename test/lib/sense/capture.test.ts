import { expect } from 'chai';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { withLock } from '../../../src/lib/platform/files/lock';
import type { SenseEvent } from '../../../src/lib/time/event';
import type { CollectInput } from '../../../src/lib/sense/source';
import { rejection } from '../../helpers/errors';
import { commit, filesIn, focus, listSource, senseBox, sourceOf, type SenseBox } from '../../helpers/sense';

const root = process.getuid?.() === 0;

describe('sense: capture', () => {
  let box: SenseBox;
  beforeEach(() => {
    box = senseBox();
  });
  afterEach(() => box.remove());

  const broken = sourceOf('git', () => Promise.reject(new Error('the disk of git is gone')));
  const hanging = sourceOf('agentSession', () => new Promise(() => {}));

  it('stores the events of each source', async () => {
    const seen = focus('2026-11-20T11:59:00Z', 'Code');
    const result = await box.capture({ sources: [listSource('appFocus', [seen]), listSource('git', [])] });
    expect(result).to.deep.include({
      captured: true,
      ts: '2026-11-20T12:00:00.000Z',
      events: 1,
      problems: [],
    });
    expect(result.sources.map(({ id, state, events }) => [id, state, events])).to.deep.equal([
      ['appFocus', 'ok', 1],
      ['git', 'ok', 0],
    ]);
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([seen]);
  });

  it('keeps the time of the last event through a capture that saw nothing', async () => {
    const seen = focus('2026-11-20T11:59:00Z', 'Code');
    const sources = [listSource('appFocus', [seen])];
    await box.capture({ sources });
    box.at('2026-11-20T12:02:00Z');
    await box.capture({ sources });
    expect(box.state()).to.have.nested.property('sources.appFocus.at', '2026-11-20T12:02:00.000Z');
    expect(box.state()).to.have.nested.property('sources.appFocus.lastEventTs', seen.ts);
  });

  it('stores the other events when one source throws and another hangs', async () => {
    const list = [focus('2026-11-20T11:59:00Z', 'Code')];
    const result = await box.capture({
      sources: [broken, hanging, listSource('appFocus', list)],
      sourceTimeoutMs: 20,
    });
    expect(result.sources.map(({ id, state }) => [id, state])).to.deep.equal([
      ['git', 'error'],
      ['agentSession', 'error'],
      ['appFocus', 'ok'],
    ]);
    expect(result.sources[0]?.reason).to.include('the disk of git is gone');
    expect(result.sources[1]?.reason).to.include('timed out');
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
  });

  it('handles a source that throws synchronously', async () => {
    const rude = sourceOf('git', () => {
      throw new Error('at once');
    });
    const result = await box.capture({ sources: [rude, listSource('appFocus', [])] });
    expect(result.sources.map(({ state }) => state)).to.deep.equal(['error', 'ok']);
  });

  it('writes nothing and asks no source when disabled', async () => {
    let asked = 0;
    const source = sourceOf('git', () => {
      asked += 1;
      return Promise.resolve({ events: [], cursor: 1, state: 'ok' });
    });
    const result = await box.capture({ config: { ...box.deps.config, enabled: false }, sources: [source] });
    expect(result).to.deep.include({ captured: false, events: 0, sources: [] });
    expect(asked).to.equal(0);
    expect(existsSync(box.area.root)).to.equal(false);
  });

  it('asks no source that is turned off, and keeps its cursor', async () => {
    const list = [commit('2026-11-20T09:00:00Z', 'app', 'a')];
    await box.capture({ sources: [listSource('git', list)] });
    list.push(commit('2026-11-20T10:00:00Z', 'app', 'b'));
    const off = { ...box.deps.config, sources: { ...box.deps.config.sources, git: false } };
    expect((await box.capture({ config: off, sources: [listSource('git', list)] })).sources).to.deep.equal(
      [],
    );
    expect((await box.capture({ sources: [listSource('git', list)] })).events).to.equal(1);
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
  });

  it('keeps the cursor of a failed source, and catches up next time', async () => {
    const list = [commit('2026-11-20T09:00:00Z', 'app', 'a')];
    const cursors: unknown[] = [];
    const source = sourceOf('git', async (input) => {
      cursors.push(input.cursor);
      if (cursors.length === 2) throw new Error('once');
      return listSource('git', list).collect(input);
    });
    await box.capture({ sources: [source] });
    list.push(commit('2026-11-20T10:00:00Z', 'app', 'b'));
    await box.capture({ sources: [source] });
    await box.capture({ sources: [source] });
    expect(cursors).to.deep.equal([undefined, 1, 1]);
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
  });

  it('passes the start of the local day', async () => {
    const starts = async (iso: string, timezone: string): Promise<string> => {
      box.at(iso);
      let got: CollectInput | undefined;
      const source = sourceOf('git', (input) => {
        got = input;
        return Promise.resolve({ events: [], cursor: 1, state: 'ok' });
      });
      await box.capture({ sources: [source], timezone });
      return new Date(got?.dayStartMs ?? 0).toISOString();
    };
    expect(await starts('2026-11-20T00:30:00Z', 'America/New_York')).to.equal('2026-11-19T05:00:00.000Z');
    expect(await starts('2026-10-25T12:00:00Z', 'Europe/Paris')).to.equal('2026-10-24T22:00:00.000Z');
  });

  it('stores an event under its local day', async () => {
    box.at('2026-10-25T23:30:00Z');
    // The night in which Paris puts its clock back: its day has 25 hours.
    const times = [
      ['2026-10-24T21:59:59.999Z', '2026-10-24'],
      ['2026-10-24T22:00:00Z', '2026-10-25'],
      ['2026-10-25T00:30:00Z', '2026-10-25'],
      ['2026-10-25T01:30:00Z', '2026-10-25'],
      ['2026-10-25T22:59:59.999Z', '2026-10-25'],
      ['2026-10-25T23:00:00Z', '2026-10-26'],
    ] as const;
    const list = times.map(([ts], n) => commit(ts, 'app', String(n)));
    await box.capture({ sources: [listSource('git', list)], timezone: 'Europe/Paris' });
    for (const day of ['2026-10-24', '2026-10-25', '2026-10-26']) {
      const expected = list.filter((_, n) => times[n]?.[1] === day);
      expect(box.lines(`events/${day}.jsonl`), day).to.deep.equal(expected);
    }
  });

  it('keeps the time zone of a day when you travel', async () => {
    const list = [focus('2026-11-20T08:00:00Z', 'Code')];
    const sources = [listSource('appFocus', list)];
    await box.capture({ sources, timezone: 'Europe/Paris' });
    box.at('2026-11-21T07:30:00Z');
    list.push(focus('2026-11-21T07:29:00Z', 'Code'));
    await box.capture({ sources, timezone: 'America/Los_Angeles' });
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
    box.at('2026-11-22T09:00:00Z');
    await box.capture({ sources, timezone: 'America/Los_Angeles' });
    expect(box.record('2026-11-20')).to.include({ timezone: 'Europe/Paris', totalMinutes: 4, final: true });
    expect(box.record('2026-11-21').timezone).to.equal('America/Los_Angeles');
  });

  it('stores no event twice in concurrent captures under the lock', async () => {
    const list = Array.from({ length: 20 }, (_, n) => commit('2026-11-20T09:00:00Z', 'app', String(n)));
    const lock = { clock: box.deps.clock, machineId: '0123456789ab', waitMs: 10_000 };
    await Promise.all(
      [1, 2, 3, 4].map(() =>
        withLock(join(box.area.machine, 'sense.lock'), lock, () =>
          box.capture({ sources: [listSource('git', list)] }),
        ),
      ),
    );
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
  });

  describe('state.json', () => {
    it('drops pending lines once they are stored', async () => {
      await box.capture({ sources: [listSource('git', [commit('2026-11-20T09:00:00Z', 'app', 'a')])] });
      expect(box.state()['pending']).to.deep.equal([]);
      rmSync(box.store.logOf('2026-11-20'));
      await box.capture();
      expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([]);
    });

    it('of a newer version is a config error and changes nothing', async () => {
      const path = box.write('sense/state.json', '{"version":2,"cursors":{"git":7}}\n');
      const before = filesIn(box.area.root);
      const list = [focus('2026-11-20T11:59:00Z', 'Code')];
      const error = await rejection(box.capture({ sources: [listSource('appFocus', list)] }));
      expect(error).to.include({ kind: 'config' });
      expect(String(error)).to.include(path).and.include('newer steward');
      expect(filesIn(box.area.root)).to.deep.equal(before);
    });

    const damages: [name: string, damage: (box: SenseBox) => void][] = [
      ['lost', (b) => rmSync(b.area.sense.state)],
      ['empty', (b) => writeFileSync(b.area.sense.state, '')],
      ['torn', (b) => writeFileSync(b.area.sense.state, '{"version":1,"curs')],
      ['of another shape', (b) => writeFileSync(b.area.sense.state, '{"version":1,"rolled":[]}')],
      ['with a path for a day', (b) => {
        const pending = [{ day: '../../x', offset: 0, text: 'no\n' }];
        writeFileSync(b.area.sense.state, JSON.stringify({ version: 1, pending }));
      }],
    ]; // prettier-ignore
    for (const [name, damage] of damages) {
      it(`${name}: stores no commit twice, and new ones`, async () => {
        const list = [commit('2026-11-20T09:00:00Z', 'app', 'a'), commit('2026-11-20T10:00:00Z', 'app', 'b')];
        const sources = [listSource('git', list)];
        await box.capture({ sources });
        damage(box);
        list.push(commit('2026-11-20T11:00:00Z', 'app', 'c'));
        const result = await box.capture({ sources });
        expect(result.problems.length).to.equal(name === 'lost' ? 0 : 1);
        expect(result.events).to.equal(1);
        expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
        expect(existsSync(join(box.area.sense.quarantine, 'state.json'))).to.equal(name !== 'lost');
        expect(box.state()['version']).to.equal(1);
      });
    }

    it('lost: stores nothing twice after a source failed meanwhile', async () => {
      const list = [commit('2026-11-20T09:00:00Z', 'app', 'a')];
      await box.capture({ sources: [listSource('git', list)] });
      rmSync(box.area.sense.state);
      await box.capture({ sources: [broken] });
      list.push(commit('2026-11-20T11:00:00Z', 'app', 'b'));
      await box.capture({ sources: [listSource('git', list)] });
      expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
    });

    it('lost: a source recovers its cursor from the stored events', async () => {
      const list = [focus('2026-11-20T11:00:00Z', 'Code'), focus('2026-11-20T11:30:00Z', 'Code')];
      await box.capture({ sources: [listSource('appFocus', list)] });
      rmSync(box.area.sense.state);
      const source = {
        ...listSource('appFocus', list),
        recover: (stored: readonly SenseEvent[]) => stored.length,
      };
      expect((await box.capture({ sources: [source] })).events).to.equal(0);
    });
  });

  it('completes an interrupted append exactly once', async () => {
    const seen = [focus('2026-11-20T11:00:00Z', 'Code'), focus('2026-11-20T11:02:00Z', 'Code')];
    await box.capture({ sources: [listSource('appFocus', seen.slice(0, 1))] });
    const plan = box.store.planAppend('2026-11-20', seen.slice(1));
    for (const part of [0, 1, Math.floor(plan.text.length / 2), plan.text.length]) {
      const log = box.store.logOf('2026-11-20');
      writeFileSync(log, `${JSON.stringify(seen[0])}\n${plan.text.slice(0, part)}`);
      box.store.writeState({ ...box.store.readState().state, pending: [plan] });
      await box.capture();
      await box.capture();
      expect(box.lines('events/2026-11-20.jsonl'), `${part} bytes were through`).to.deep.equal(seen);
    }
  });

  it('closes an incomplete line before appending', async () => {
    const list = [focus('2026-11-20T11:00:00Z', 'Code')];
    box.write('sense/events/2026-11-20.jsonl', '{"ts":"2026-11-20T10');
    await box.capture({ sources: [listSource('appFocus', list)] });
    expect(box.read('sense/events/2026-11-20.jsonl')).to.equal(
      `{"ts":"2026-11-20T10\n${JSON.stringify(list[0])}\n`,
    );
  });

  it('counts time away up to a poll interval, per day', async () => {
    const idle = sourceOf('appFocus', () => Promise.resolve({ events: [], cursor: 1, state: 'idle' }));
    const away = async (iso: string): Promise<unknown> => {
      box.at(iso);
      await box.capture({ sources: [idle] });
      return box.state()['away'];
    };
    expect(await away('2026-11-20T12:00:00Z')).to.deep.equal({ day: '2026-11-20', seconds: 120 });
    expect(await away('2026-11-20T12:00:30Z')).to.deep.equal({ day: '2026-11-20', seconds: 150 });
    expect(await away('2026-11-20T14:00:00Z')).to.deep.equal({ day: '2026-11-20', seconds: 270 });
    expect(await away('2026-11-21T09:00:00Z')).to.deep.equal({ day: '2026-11-21', seconds: 120 });
  });

  it('reports a past day that cannot be written, and stores the rest', async function () {
    if (root) this.skip();
    box.write('sense/events/2026-11-19.jsonl', '');
    chmodSync(box.store.logOf('2026-11-19'), 0);
    const old = commit('2026-11-19T09:00:00Z', 'app', 'old');
    const fresh = commit('2026-11-20T09:00:00Z', 'app', 'new');
    const result = await box.capture({ sources: [listSource('git', [old, fresh])] });
    expect(result.problems.join()).to.include('2026-11-19');
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([fresh]);
    expect(box.lines('quarantine/late.jsonl')).to.deep.equal([old]);
  });

  it('reports a past day whose log is a folder, and stores the rest', async () => {
    box.write('sense/events/2026-11-19.jsonl/x', '');
    const old = commit('2026-11-19T09:00:00Z', 'app', 'old');
    const fresh = commit('2026-11-20T09:00:00Z', 'app', 'new');
    const result = await box.capture({ sources: [listSource('git', [old, fresh])] });
    expect(result.problems.join()).to.include('2026-11-19');
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([fresh]);
    expect(box.lines('quarantine/late.jsonl')).to.deep.equal([old]);
  });

  it("advances no cursor when today's log cannot be written", async () => {
    const list = [commit('2026-11-20T09:00:00Z', 'app', 'a')];
    box.write('sense/events/2026-11-20.jsonl/x', '');
    const error = await rejection(box.capture({ sources: [listSource('git', list)] }));
    expect(error).to.include({ kind: 'config' });
    rmSync(box.store.logOf('2026-11-20'), { recursive: true });
    await box.capture({ sources: [listSource('git', list)] });
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal(list);
  });

  it('creates private folders and files', async function () {
    if (process.platform === 'win32') this.skip();
    const { statSync } = await import('node:fs');
    await box.capture({ sources: [listSource('appFocus', [focus('2026-11-20T11:00:00Z', 'Code')])] });
    const modeOf = (name: string): number => statSync(join(box.area.root, name)).mode & 0o777;
    for (const folder of ['', 'sense', 'sense/events', 'sense/daily', 'sense/quarantine'])
      expect(modeOf(folder), folder).to.equal(0o700);
    for (const file of ['sense/state.json', 'sense/events/2026-11-20.jsonl'])
      expect(modeOf(file), file).to.equal(0o600);
  });
});
