import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { managedClient } from '../../src/lib/agents/managed/client';
import type { Timing } from '../../src/lib/agents/managed/failure';
import type { SendDeps } from '../../src/lib/agents/managed/outbox';
import { openOrigin } from '../../src/lib/platform/net/origin-client';
import { systemClock } from '../../src/lib/platform/time/clock';
import type { RunInput } from './children/managed-run';
import { randomFaults } from './fake-managed/faults';
import { type Fake, startFake, talk } from './fake-managed/server';
import type { LogEvent, Script, Step } from './fake-managed/session';
import { type Random, seeded } from './random';

/** Pauses in milliseconds instead of seconds. */
export const QUICK: Timing = {
  firstPauseMs: 4,
  longestPauseMs: 30,
  tries: 60,
  patienceMs: 60_000,
  silenceMs: 150,
  rereadMs: 100,
  lagMs: 3000,
  paceMs: [1, 10],
};

/** The dependencies of the library, for a server on this machine. */
export async function sendDeps(
  url: string,
  folder: string,
  apiKey = 'k',
): Promise<SendDeps & { close: () => Promise<void> }> {
  const http = await openOrigin(url, { hint: 'Look at the test.' });
  const clock = systemClock();
  const client = managedClient({ http, clock, credential: { apiKey }, credentialFrom: 'the test' });
  return { client, clock, timing: QUICK, folder, alone: (_, work) => work(), close: () => client.close() };
}

interface Ending {
  steps: (random: Random) => Step[];
  code: number;
}

/** How a turn may end, and the exit code that it has. */
const ENDINGS: readonly Ending[] = [
  { steps: () => [], code: 0 },
  { steps: () => [], code: 0 },
  { steps: (random) => [{ waitFor: { kind: 'tool', name: 'bash', count: 1 + random.below(3) } }], code: 0 },
  { steps: () => [{ waitFor: { kind: 'custom', name: 'ask_ann', count: 1 } }], code: 6 },
  { steps: () => [{ stop: 'retries_exhausted' }], code: 8 },
  { steps: () => [{ stop: 'refusal' }], code: 6 },
  { steps: () => [{ stop: 'budget_reached' }], code: 6 },
  { steps: () => [{ stop: 'end_turn', error: 'terminal' }], code: 8 },
  { steps: () => [{ stop: 'end_turn', error: 'retrying' }], code: 0 },
];

/**
 * One run against a server whose faults, script and pauses come from a seed, killed and restarted at random points:
 * what it printed is the log, once each, in order; one session was made, one message arrived; the exit code is
 * that of the stop reason.
 */
async function checkSeed(bundle: string, seed: number): Promise<void> {
  const random = seeded(seed);
  const ending = random.pick(ENDINGS);
  const script: Script = (message, own) => [...talk(message, own), ...ending.steps(own)];
  const lag = random.below(40);
  const fake = await startFake({
    random,
    script,
    faults: randomFaults(random, 4 + random.below(12)),
    pageSize: random.pick([2, 3, 7, 1000]),
    streamPaths: random.pick([['stream'], ['events/stream'], ['stream', 'events/stream']]),
    lagMs: ({ type }) => (type === 'session.status_idle' ? lag : random.below(3)),
    pauseMs: () => random.below(6),
    emptyIds: true,
  });
  fake.agents.set('agent_1', {});
  fake.environments.set('env_1', {});
  const folder = mkdtempSync(join(tmpdir(), 'steward-oracle-'));
  const out = join(folder, 'out.jsonl');
  const input: RunInput = {
    url: fake.url,
    folder: join(folder, 'managed'),
    agent: 'agent_1',
    environment: 'env_1',
    message: `seed ${seed}: ürgent`,
    timing: QUICK,
    allow: ['all'],
  };
  const restarts = random.chance(0.25) ? [10 + random.below(250)] : [];
  const timers = restarts.map((ms) => setTimeout(() => void fake.restart(), ms));
  let kills = random.chance(0.6) ? 1 + random.below(3) : 0;
  let said = '';
  try {
    for (;;) {
      const { child, ended } = start(bundle, input, out);
      const timer = kills > 0 ? setTimeout(() => child.kill('SIGKILL'), 40 + random.below(300)) : undefined;
      kills -= 1;
      const { code, signal, stderr } = await ended;
      clearTimeout(timer);
      said += stderr;
      if (signal === 'SIGKILL') continue;
      expect(code, `exit code\n${said}`).to.equal(ending.code);
      break;
    }
    check(fake, out, input.message);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${said}`, { cause: error });
  } finally {
    timers.forEach(clearTimeout);
    await fake.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(
  bundle: string,
  input: RunInput,
  out: string,
): { child: ChildProcess; ended: Promise<{ code: number | null; signal: string | null; stderr: string }> } {
  const fd = openSync(out, 'a');
  const child = spawn(process.execPath, [bundle, JSON.stringify(input)], { stdio: ['ignore', fd, 'pipe'] });
  closeSync(fd);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    stderr,
  }));
  return { child, ended };
}

function check(fake: Fake, out: string, message: string): void {
  expect(fake.sessions.size, 'sessions made').to.equal(1);
  const [session] = [...fake.sessions.values()];
  const log = session?.log ?? [];
  const printed = readFileSync(out, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEvent);
  const name = ({ id, type }: LogEvent): string => `${id} ${type}`;
  expect(printed.map(name)).to.deep.equal(log.map(name));
  const messages = log.filter(({ type }) => type === 'user.message');
  expect(messages.map(({ content }) => content)).to.deep.equal([[{ type: 'text', text: message }]]);
}

/** Runs the seeds from `first` on, some at a time. */
export async function checkSeeds(bundle: string, first: number, count: number, atOnce = 4): Promise<void> {
  let next = first;
  const worker = async (): Promise<void> => {
    while (next < first + count) {
      const seed = next;
      next += 1;
      await checkSeed(bundle, seed);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
