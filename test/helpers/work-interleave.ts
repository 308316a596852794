import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { leave, spoolStatus } from '../../src/lib/sessions/spool';
import { captureKey } from '../../src/lib/work/capture/keys';
import type { Fault, GitHub } from './github';
import { seeded } from './random';
import type { WorkWorld } from './work';
import { issuesOf } from './work-kill';

interface Soak {
  github: GitHub;
  world: WorkWorld;
  bundle: string;
  random: () => number;
  /** Slugs of sessions that have ended, or were found by a sweep. */
  slugs: Set<string>;
  keys: Map<string, string>;
  /** Labels that a person has set by hand: number → names. */
  byHand: Map<number, Set<string>>;
}

/**
 * Interleaves what the hooks leave, deliveries, sweeps, claims and a person's edits at random, by seed, each in a
 * process of its own, with replies that are dropped after they took effect, lists that lag, limits, 5xx, resets and
 * kills. In the end, without faults: one issue a slug and a capture, none is lost, and no label of a person's is.
 */
export async function interleave(
  { github, world, bundle }: Pick<Soak, 'github' | 'world' | 'bundle'>,
  { seed, steps }: { seed: number; steps: number },
): Promise<void> {
  const soak: Soak = {
    github,
    world,
    bundle,
    random: seeded(seed).next,
    slugs: new Set(),
    keys: new Map(),
    byHand: new Map(),
  };
  for (let step = 0; step < steps; step += 1) await oneStep(soak, step);
  github.fault = () => undefined;
  github.hidden.clear();
  for (let round = 0; spoolStatus(world.at.area.spool).waiting > 0 && round < 10; round += 1)
    await child(soak, ['deliver']);
  for (let round = 0; round < 3; round += 1) await child(soak, ['sweep']);
  await settled(soak);
}

async function oneStep(soak: Soak, step: number): Promise<void> {
  const { random, github } = soak;
  const kind = random();
  if (kind < 0.25) return endSession(soak, Math.floor(random() * 12));
  if (kind < 0.4) return matchPrompt(soak, Math.floor(random() * 8));
  if (kind < 0.6) return editByHand(soak, step);
  const number = 1 + Math.floor(random() * Math.max(1, soak.slugs.size));
  const call =
    kind < 0.75
      ? ['deliver']
      : kind < 0.9
        ? ['sweep']
        : ['claim', String(number), random() < 0.5 ? 'kai' : 'mio'];
  const isKilled = random() < 0.25;
  const at = Math.floor(random() * 12);
  const fault = faultOf(random());
  let request = 0;
  let die = (): void => undefined;
  github.fault = (): Fault | undefined => {
    if (request++ !== at) return undefined;
    if (isKilled) setImmediate(die);
    return isKilled ? (random() < 0.5 ? 'drop' : undefined) : fault;
  };
  // A list lags: what was made last is not in it yet.
  if (random() < 0.2) {
    const newest = (await issuesOf(github, 'ann/work')).map((issue) => issue.number);
    github.hidden.add(Math.max(1, ...newest));
  } else github.hidden.clear();
  await child(soak, call, (kill) => {
    die = kill;
  });
  github.fault = () => undefined;
}

function faultOf(random: number): Fault | undefined {
  const limit = { status: 403, headers: { 'retry-after': '1' }, body: { message: 'You have exceeded a secondary rate limit' } }; // prettier-ignore
  const faults: (Fault | undefined)[] = ['drop', 'drop', 'reset', 'cut', { status: 502 }, limit, undefined];
  return faults[Math.floor(random * faults.length)];
}

const PHASES = ['execute', 'verify', 'complete'];

function endSession({ world, slugs, random }: Soak, n: number): void {
  const slug = `s${n}`;
  const folder = join(world.at.area.sessions, slug);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'ISA.md');
  const phase = PHASES[Math.floor(random() * PHASES.length)] ?? 'execute';
  const known = slugs.has(slug) ? /\ngithub_issue[^\n]*\ngithub_issue_url[^\n]*/.exec(readFileSync(path, 'utf8')) : null; // prettier-ignore
  writeFileSync(path, `---\ntask: Task ${n}\nphase: ${phase}${known?.[0] ?? ''}\n---\n`);
  slugs.add(slug);
  // Some crash: those are the sweep's.
  if (random() < 0.6) leave(spoolOf(world), { kind: 'session-ended', session: `x-${slug}`, slug, transcript: null }); // prettier-ignore
}

function matchPrompt({ world, keys }: Soak, n: number): void {
  const text = `do thing ${n}`;
  const key = captureKey('s', 'reminder', text);
  keys.set(key, text);
  const capture = { kind: 'reminder', text, key };
  leave(spoolOf(world), { kind: 'prompt-matched', session: 's', slug: null, transcript: null, capture });
}

function spoolOf({ at, deps }: WorkWorld) {
  return { clock: deps.clock, machineId: deps.machineId, area: at.area };
}

async function editByHand({ github, byHand, random }: Soak, step: number): Promise<void> {
  const issues = await issuesOf(github, 'ann/work');
  const issue = issues[Math.floor(random() * issues.length)];
  if (issue === undefined) return;
  const label = `mine-${step % 7}`;
  await github.api('POST', `/repos/ann/work/issues/${issue.number}/labels`, { labels: [label] });
  byHand.set(issue.number, new Set([...(byHand.get(issue.number) ?? []), label]));
}

async function child(
  { bundle, github, world }: Soak,
  args: readonly string[],
  onStart: (kill: () => void) => void = () => undefined,
): Promise<void> {
  const running = spawn(process.execPath, [bundle, world.at.home, ...args], {
    env: {
      PATH: process.env['PATH'],
      STEWARD_HOME: world.at.area.root,
      XDG_STATE_HOME: `${world.at.home}/state`,
      HOME: world.at.home,
      GITHUB_API_URL: github.url,
      GH_TOKEN: github.token,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onStart(() => running.kill('SIGKILL'));
  await once(running, 'exit');
}

/** What must hold at the end. */
async function settled({ github, slugs, keys, byHand }: Soak): Promise<void> {
  const rows = (await issuesOf(github, 'ann/work')) as (Awaited<ReturnType<typeof issuesOf>>[number] & {
    state: string;
  })[];
  const open = rows.filter(({ state }) => state === 'open').map(({ title }) => title);
  const wanted = [
    ...[...slugs].map((slug) => `[slug:${slug}]`),
    ...[...keys.values()].map((text) => `[Reminder] ${text}`),
  ];
  const counts = wanted.map((mark) => [mark, open.filter((title) => title.includes(mark)).length]);
  expect(
    counts.filter(([, count]) => count !== 1),
    'one open issue each',
  ).to.deep.equal([]);
  expect(open.length, 'no issue that nobody wanted').to.equal(wanted.length);
  for (const [number, labels] of byHand) {
    const row = rows.find((one) => one.number === number);
    expect(
      row?.labels.map(({ name }) => name),
      `labels of #${number}`,
    ).to.include.members([...labels]);
  }
  const statuses = rows.map(({ number, labels }) => [number, labels.filter(({ name }) => name.startsWith('Status:')).length]); // prettier-ignore
  expect(
    statuses.filter(([, count]) => count === 0),
    'each has a Status',
  ).to.deep.equal([]);
}
