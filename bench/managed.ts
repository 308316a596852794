/**
 * Hosted sessions: shows 100,000 events, stored or streamed, at 20,000 a second and with at most 150 bytes of memory per
 * event; shows the first event after a reconnect within 100 ms.
 * Run: npm run -s build && npx tsx bench/managed.ts
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { BIN, cleanEnv, definedOnly, emptyHome } from '../test/helpers/cli';
import { NO_FAULTS } from '../test/helpers/fake-managed/faults';
import { seeded } from '../test/helpers/random';
import { startFake } from '../test/helpers/fake-managed/server';
import { append, type FakeSession, type SessionHost } from '../test/helpers/fake-managed/session';
import { median, peakMemory } from './measure';

const EVENTS = 100_000;
const PER_SECOND = 20_000;
const BYTES = 150;
const RECONNECT_MS = 100;
const ROUNDS = 5;
const PEAKS = 3;
const DROPS = 20;

const message = (index: number): Record<string, unknown> & { type: string } => ({
  type: 'agent.message',
  content: [{ type: 'text', text: `Line ${index} of what the agent has to say about the plan.` }],
});
const HOST: SessionHost = {
  random: seeded(1),
  script: () => [],
  lagMs: () => 0,
  pauseMs: () => 0,
  emptyIds: false,
};

/** Runs the fake service in its own process: reads orders from stdin and prints results to stdout. */
async function serve(): Promise<void> {
  let dropping = false;
  const fault = { after: 0, end: 'reset', duplicate: 0, swap: 0, badFrame: 0, unknown: 0, byteByByte: false, html: false, empty: false } as const; // prettier-ignore
  const fake = await startFake({
    faults: { ...NO_FAULTS, stream: () => (dropping ? fault : undefined) },
  });
  const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const isListening = async (session: FakeSession): Promise<void> => {
    while (session.listeners.size === 0) await soon();
  };
  const orders: Record<Order, (session: FakeSession, count: number) => Promise<void>> = {
    stored: () => Promise.resolve(),
    live: async (session, count) => {
      await isListening(session);
      for (let index = 0; index < count; index += 1) {
        append(HOST, session, message(index));
        if (index % 500 === 499) await soon();
      }
    },
    drops: async (session, count) => {
      dropping = true;
      await isListening(session);
      let opened = fake.requests.length - 1;
      for (let index = 0; index < count; index += 1) {
        // Once the history has been read, only the next connection shows a new event.
        while (!fake.requests.slice(opened).some(({ path }) => path.endsWith('/events'))) await soon();
        await soon();
        const seen = fake.requests.length;
        // The connection breaks before this event gets through.
        append(HOST, session, message(index));
        while (!fake.requests.slice(seen).some(({ path }) => path.endsWith('stream'))) await soon();
        opened = seen;
        say(Date.now());
      }
      dropping = false;
    },
  };
  say(fake.url);
  for await (const line of createInterface({ input: process.stdin })) {
    const [order, count] = JSON.parse(line) as [Order, number];
    const session = fake.makeSession([{ type: 'session.status_running' }]);
    session.status = 'running';
    if (order === 'stored') {
      for (let index = 0; index < count; index += 1) append(HOST, session, message(index));
    }
    say(session.id);
    await orders[order](session, count);
    session.status = 'terminated';
    append(HOST, session, { type: 'session.status_terminated' });
  }
  await fake.stop();
}

type Order = 'stored' | 'live' | 'drops';

async function main(): Promise<void> {
  const server = spawn(process.execPath, ['--import', 'tsx', __filename, 'serve'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const home = emptyHome();
  try {
    const said = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const heard = async (): Promise<unknown> => JSON.parse((await said.next()).value as string) as unknown;
    const url = (await heard()) as string;
    const ordered = async (order: Order, count: number): Promise<string> => {
      server.stdin.write(`${JSON.stringify([order, count])}\n`);
      return (await heard()) as string;
    };
    const env = definedOnly(cleanEnv(home.path, { STEWARD_MANAGED_URL: url }));
    for (const order of ['stored', 'live'] as const) {
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.push(await shownPerSecond(await ordered(order, EVENTS), env));
      }
      const rate = Math.round(median(rates));
      tell(rate >= PER_SECOND, `${order}: ${rate} events a second`, `at least ${PER_SECOND}`);
    }
    for (const order of ['stored', 'live'] as const) {
      const peak = async (count: number): Promise<number> => {
        const peaks: number[] = [];
        while (peaks.length < PEAKS) {
          const args = [BIN, 'agents', 'managed', 'stream', await ordered(order, count), '--json'];
          peaks.push(peakMemory({ args, env }, process.env));
        }
        return median(peaks);
      };
      const bytes = (((await peak(4 * EVENTS)) - (await peak(EVENTS))) * 2 ** 20) / (3 * EVENTS);
      tell(bytes <= BYTES, `${order}: ${Math.round(bytes)} bytes of memory per event`, `at most ${BYTES}`);
    }
    const took = await reconnects(await ordered('drops', DROPS), env, heard);
    const slow = Math.round(median(took));
    tell(slow <= RECONNECT_MS, `${slow} ms from a reconnect to the first event`, `at most ${RECONNECT_MS}`);
  } finally {
    server.kill();
    home.remove();
  }
}

function tell(within: boolean, what: string, limit: string): void {
  console.log(`${within ? 'ok  ' : 'OVER'}  ${what.padEnd(48)}  ${limit}`);
  if (!within) process.exitCode = 1;
}

function follow(session: string, env: Readonly<Record<string, string>>): ChildProcess {
  const args = [BIN, 'agents', 'managed', 'stream', session, '--json'];
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Returns events per second of a whole run including its start, read through a pipe. */
async function shownPerSecond(session: string, env: Readonly<Record<string, string>>): Promise<number> {
  const started = performance.now();
  const child = follow(session, env);
  let lines = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  await once(child, 'close');
  if (lines < EVENTS) throw new Error(`${lines} of ${EVENTS} events were shown`);
  return (lines / (performance.now() - started)) * 1000;
}

/** Returns, for each drop, ms from the reconnect to the line of the missed event. */
async function reconnects(
  session: string,
  env: Readonly<Record<string, string>>,
  reopened: () => Promise<unknown>,
): Promise<number[]> {
  const child = follow(session, env);
  const shownAt: number[] = [];
  if (child.stdout === null) throw new Error('no stdout');
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('agent.message')) shownAt.push(Date.now());
  });
  const closed = once(child, 'close');
  const openedAt: number[] = [];
  for (let drop = 0; drop < DROPS; drop += 1) openedAt.push((await reopened()) as number);
  await closed;
  return openedAt.map((at, index) => (shownAt[index] ?? Number.NaN) - at);
}

void (process.argv[2] === 'serve' ? serve() : main());
