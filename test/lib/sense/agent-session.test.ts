import { expect } from 'chai';
import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

import { toIso } from '../../../src/lib/platform/time/clock';
import { agentSessionSource } from '../../../src/lib/sense/agent-session';
import type { Collected } from '../../../src/lib/sense/source';
import { scratch } from '../../helpers/scratch';

const DAY = Date.parse('2026-11-20T00:00:00Z');
const NOON = DAY + 12 * 3_600_000;

describe('sense: assistant sessions', () => {
  const box = scratch();
  let path: string;
  let cursor: unknown;
  beforeEach(() => {
    path = box.path('work-events.jsonl');
    cursor = undefined;
  });

  const line = (ms: number, session: string, more: object = {}): string =>
    `${JSON.stringify({ ts: toIso(ms), type: 'subagent-stop', session, ...more })}\n`;
  const add = (text: string): void => appendFileSync(path, text);
  const source = (timezone = 'UTC') =>
    agentSessionSource({ path, timezone, machineId: 'm1', config: { repos: [] } });

  /** A capture; the cursor goes through JSON in between, as it is stored. */
  async function collect(nowMs = NOON, timezone = 'UTC'): Promise<Collected> {
    const got = await source(timezone).collect({ nowMs, dayStartMs: DAY, cursor });
    cursor = got.cursor === undefined ? undefined : JSON.parse(JSON.stringify(got.cursor));
    return got;
  }
  /** What a capture adds: `session:events`. */
  const counts = async (nowMs = NOON): Promise<string[]> =>
    (await collect(nowMs)).events.map(
      ({ detail }) => `${String(detail?.['session'])}:${String(detail?.['events'])}`,
    );

  it('stores one event per session and capture, with its last time and repository', async () => {
    add(
      line(NOON - 3000, 'a', { repo: 'app' }) +
        line(NOON - 2000, 'b') +
        line(NOON - 1000, 'a', { repo: 'lib' }),
    );
    expect((await collect()).events).to.deep.equal([
      {
        ts: toIso(NOON - 1000),
        type: 'agent-session',
        source: 'agentSession',
        repo: 'lib',
        detail: { session: 'a', events: 2, machine: 'm1' },
      },
      {
        ts: toIso(NOON - 2000),
        type: 'agent-session',
        source: 'agentSession',
        detail: { session: 'b', events: 1, machine: 'm1' },
      },
    ]);
  });

  it('reads each line once, and only its session, time and repository', async () => {
    add(line(NOON - 3000, 'a', { prompt: 'a secret', tool: 'Bash' }));
    const first = await collect();
    expect(JSON.stringify(first)).not.to.include('secret');
    expect(first.events).to.have.length(1);
    const second = await collect();
    expect(second).to.include({ state: 'idle' });
    expect(second.events).to.deep.equal([]);
    add(line(NOON - 1000, 'a'));
    expect(await counts()).to.deep.equal(['a:1']);
  });

  it('stores one event per local day for a session over midnight', async () => {
    const midnight = Date.parse('2026-11-20T23:00:00Z');
    add(line(midnight - 1000, 'a') + line(midnight + 1000, 'a'));
    const { events } = await collect(midnight + 60_000, 'Europe/Paris');
    expect(events.map(({ ts }) => ts)).to.deep.equal([toIso(midnight - 1000), toIso(midnight + 1000)]);
  });

  it('reads only today at the first capture', async () => {
    add(line(DAY - 1, 'old') + line(DAY, 'new'));
    expect(await counts()).to.deep.equal(['new:1']);
  });

  it('reads all of a file created after the first capture', async () => {
    const none = await collect(DAY - 3_600_000 + 1);
    expect(none).to.include({ state: 'idle' });
    // Asleep over midnight: this is seen the next day only.
    add(line(DAY + 3_600_000, 'a'));
    const got = await source().collect({ nowMs: NOON + 86_400_000, dayStartMs: DAY + 86_400_000, cursor });
    expect(got.events).to.have.length(1);
  });

  it('leaves an incomplete line for the next capture', async () => {
    const whole = line(NOON - 2000, 'a');
    add(whole + whole.slice(0, 20));
    expect(await counts()).to.deep.equal(['a:1']);
    expect(await counts()).to.deep.equal([]);
    add(whole.slice(20));
    expect(await counts()).to.deep.equal(['a:1']);
  });

  it('counts invalid lines, and reads the others', async () => {
    const garbage = ['null', '{', '[]', '{"ts":"2026-11-20T09:00:00Z"}', '{"ts":7,"session":"a"}', '\u0000'];
    add(`${garbage.join('\n')}\n{"ts":"2026-11-20T09:00:00Z","session":""}\n${line(NOON - 1, 'a')}`);
    appendFileSync(path, Buffer.from([255, 254, 10]));
    add(`{"pad":"${'x'.repeat(100_000)}"}\n`);
    const { events, state, reason } = await collect();
    expect(events).to.have.length(1);
    expect(state).to.equal('ok');
    expect(reason).to.include('9 invalid lines');
  });

  it('cleans and truncates session ids', async () => {
    add(line(NOON - 1, `\u001b[31mred${'x'.repeat(1000)}`));
    const id = String((await collect()).events[0]?.detail?.['session']);
    expect(id).not.to.include('\u001b');
    expect(id).to.have.length(200);
  });

  it('treats a future time as now', async () => {
    add(line(NOON + 86_400_000, 'a'));
    expect((await collect()).events.map(({ ts }) => ts)).to.deep.equal([toIso(NOON)]);
  });

  it('reads the rest of a rotated file, then the new one', async () => {
    add(line(NOON - 9000, 'a'));
    await collect();
    add(line(NOON - 8000, 'a') + line(NOON - 7000, 'b'));
    renameSync(path, box.path('work-events.1.jsonl'));
    const between = await collect();
    expect(between.events, 'the new one is not there yet').to.deep.equal([]);
    add(line(NOON - 6000, 'b'));
    expect(await counts()).to.deep.equal(['a:1', 'b:2']);
    expect(await counts()).to.deep.equal([]);
  });

  it('reads late lines in a rotated file', async () => {
    add(line(NOON - 9000, 'a'));
    await collect();
    const rotated = box.path('work-events.1.jsonl');
    renameSync(path, rotated);
    add(line(NOON - 8000, 'b'));
    expect(await counts()).to.deep.equal(['b:1']);
    appendFileSync(rotated, line(NOON - 7000, 'late'));
    expect(await counts()).to.deep.equal(['late:1']);
    appendFileSync(rotated, line(NOON - 6000, 'late'));
    add(line(NOON - 5000, 'b'));
    expect(await counts()).to.deep.equal(['late:1', 'b:1']);
    renameSync(path, rotated);
    add(line(NOON - 4000, 'c'));
    appendFileSync(rotated, line(NOON - 3000, 'b'));
    expect(await counts()).to.deep.equal(['b:1', 'c:1']);
    expect(await counts()).to.deep.equal([]);
  });

  it('reads a replaced file from its start', async () => {
    add(line(NOON - 9000, 'a') + line(NOON - 8000, 'a'));
    await collect();
    writeFileSync(path, line(NOON - 5000, 'b'));
    expect(await counts()).to.deep.equal(['b:1']);
    writeFileSync(path, line(NOON - 4000, 'c') + line(NOON - 3000, 'c') + line(NOON - 2000, 'c'));
    expect(await counts(), 'also one that is longer').to.deep.equal(['c:3']);
  });

  it('counts nothing twice of a truncated file, and reads new lines', async () => {
    const first = Array.from({ length: 10 }, (_, n) => line(NOON - 9000 + n, 'a')).join('');
    add(first + line(NOON - 5000, 'b'));
    expect(await counts()).to.deep.equal(['a:10', 'b:1']);
    truncateSync(path, first.length);
    expect(await counts()).to.deep.equal([]);
    add(line(NOON - 4000, 'c'));
    expect(await counts()).to.deep.equal(['c:1']);
  });

  it('starts over when the file was emptied', async () => {
    add(line(NOON - 9000, 'a'));
    await collect();
    truncateSync(path, 0);
    expect(await counts()).to.deep.equal([]);
    add(line(NOON - 4000, 'a'));
    expect(await counts()).to.deep.equal(['a:1']);
  });

  it('recovers its position from the stored events', async () => {
    add(line(NOON - 90_000_000, 'older') + line(NOON - 9000, 'a') + line(NOON - 8000, 'a'));
    const { events } = await collect();
    add(line(NOON - 1000, 'a'));
    cursor = source().recover?.(events);
    expect(await counts()).to.deep.equal(['a:1']);
    // Nothing of it is stored: as the first time, not the whole history.
    cursor = source().recover?.([]);
    expect(await counts()).to.deep.equal(['a:3']);
  });

  it('ignores a damaged cursor', async () => {
    add(line(DAY - 1, 'old') + line(NOON - 9000, 'a'));
    for (const damaged of [
      7,
      null,
      {},
      { offset: -1, head: '', headBytes: 0 },
      { offset: 1.5, head: '', headBytes: 0 },
      { offset: 0, head: '', headBytes: 1e12 },
    ]) {
      // prettier-ignore
      cursor = damaged;
      expect(await counts(), JSON.stringify(damaged)).to.deep.equal(['a:1']);
    }
  });

  it('is idle without a file', async () => {
    rmSync(path, { force: true });
    expect(await collect()).to.deep.include({ events: [], state: 'idle' });
  });
});
