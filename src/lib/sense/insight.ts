import { isAbsolute } from 'node:path';

import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import type { Run, RunResult } from '../platform/process/process';
import { cleanLine } from '../platform/terminal/terminal';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { dayOf, type Day } from '../platform/time/time';
import { appMatcher } from './classify';
import type { SenseEvent } from './event';
import { insightPrompt, insightSummary, isEmptySummary, parseReply } from './insight-prompt';
import type { InsightRead, InsightStore } from './insight-reads';
import type { SenseStore } from './store';

export interface InsightDeps {
  clock: Clock;
  store: Pick<SenseStore, 'readLog' | 'prepare'>;
  insights: InsightStore;
  config: Pick<SenseConfig, 'enabled' | 'exclude' | 'insight'>;
  timezone: string;
  /** The slugs of the assistant's session ids. */
  sessionSlugs: () => ReadonlyMap<string, string>;
}

export interface BuildDeps extends InsightDeps {
  run: Run;
  /** The environment that the assistant's is made from. */
  env: NodeJS.ProcessEnv;
  /** Gives `use` an empty folder that is removed afterwards. */
  inEmptyFolder: <T>(use: (folder: string) => Promise<T>) => Promise<T>;
  /** One read at a time on this machine; one that runs already is `locked`. */
  alone: <T>(work: () => Promise<T>) => Promise<T>;
  /** The lock of sense: what is stored does not change meanwhile. */
  locked: <T>(work: () => T | Promise<T>) => Promise<T>;
  /** How long the assistant may take, ms; 90 s. */
  timeoutMs?: number;
}

export type InsightOutcome =
  | { status: 'built'; date: Day; read: InsightRead }
  /** Nothing was sent: the hour was idle, or there is nothing to tell of. */
  | { status: 'skipped'; date: Day; reason: string }
  /** The call gave no read. Stored beside the last good one, never in its place. */
  | { status: 'failed'; date: Day; reason: string; hint: string };

/** What a build would send now, byte for byte, and to which program. Nothing is sent, nothing is stored. */
export interface InsightPreview {
  date: Day;
  /** The program and its arguments. */
  command: readonly string[];
  /** What it gets on its standard input; null when there is nothing to tell of. */
  prompt: string | null;
  /** Why a build would send nothing now; null when it would send the prompt. */
  skipped: string | null;
}

const TIMEOUT_MS = 90_000;
/** An answer is two KiB, with what the assistant's JSON output has around it. */
const MAX_REPLY_BYTES = 256 * 1024;
const MAX_REASON = 200;
const NOTHING = 'nothing is captured of today yet';

/** What the environment has for the assistant beside the person's own. */
const ENVIRONMENT = {
  // Our own hooks return at once: the question is no session of the person.
  STEWARD_INTERNAL: '1',
  // What --safe-mode sets, where an older version would refuse the flag: no customisation of any kind.
  CLAUDE_CODE_SAFE_MODE: '1',
  // No update and no telemetry by the way.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Credentials that would be billed in place of a subscription, and by which the assistant refuses to run within itself. */
const REMOVED = /_(?:API_KEY|AUTH_TOKEN)$|^(?:CLAUDECODE|CLAUDE_CODE_ENTRYPOINT)$/i;

/** The program and its arguments, of `sense.insight.command`. */
export function insightCommand(command: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...args] = command;
  if (/[\\/]/.test(program) && !isAbsolute(program)) {
    throw new StewardError('config', `sense.insight.command begins with a relative path, ${program}.`, {
      hint: 'Name a program on the PATH, or write its absolute path.',
    });
  }
  return [program, ...args];
}

export async function previewInsight(deps: InsightDeps): Promise<InsightPreview> {
  const plan = await planRead(deps, false);
  const { date, prompt = null, skipped = null } = plan;
  return { date, command: insightCommand(deps.config.insight.command), prompt, skipped };
}

/**
 * The content-type read of today: one call of the assistant with the bounded summary, skipped when nothing came since the
 * last good read. The only part of sense that lets anything leave the machine. `force` reads an idle hour again.
 */
export function buildInsight(deps: BuildDeps, { force }: { force: boolean }): Promise<InsightOutcome> {
  return deps.alone(async () => {
    const plan = await planRead(deps, force);
    const { date, prompt, skipped } = plan;
    if (skipped !== undefined || prompt === undefined)
      return { status: 'skipped', date, reason: skipped ?? NOTHING };
    const [program, ...args] = insightCommand(deps.config.insight.command);
    const answer = await ask(deps, program, args, prompt);
    return deps.locked(() => keep(deps, plan, answer));
  });
}

interface Plan {
  date: Day;
  events: readonly SenseEvent[];
  prompt?: string;
  /** Why nothing is sent. */
  skipped?: string;
}

async function planRead(deps: InsightDeps, force: boolean): Promise<Plan> {
  const { clock, timezone, store, config } = deps;
  const date = dayOf(clock.now(), timezone);
  const { events } = store.readLog(date);
  const slugs = deps.sessionSlugs();
  const excludes = await appMatcher(config.exclude);
  const summary = insightSummary(events, { slugOf: (session) => slugs.get(session), excludes });
  const plan: Plan = { date, events };
  if (!isEmptySummary(summary)) plan.prompt = insightPrompt(summary);
  if (!config.enabled) return { ...plan, skipped: 'sense.enabled is false' };
  if (plan.prompt === undefined) return { ...plan, skipped: NOTHING };
  const { read } = deps.insights.read(date);
  const isIdle = read !== null && events.length === read.events && span(events).until <= read.until;
  return isIdle && !force ? { ...plan, skipped: 'nothing came since the last read' } : plan;
}

/** The times of the first and the last event, in one form whatever their zones. */
function span(events: readonly SenseEvent[]): { since: string; until: string } {
  const times = events.map(({ ts }) => toIso(parseIso(ts) ?? 0)).sort();
  return { since: times[0] ?? '', until: times.at(-1) ?? '' };
}

type Failure = { reason: string; hint: string };
type Answer = Pick<InsightRead, 'narrative' | 'contentTypes' | 'model'> | Failure;

/** The call, in an empty folder: no project of the person is near. */
async function ask(
  deps: BuildDeps,
  program: string,
  args: readonly string[],
  prompt: string,
): Promise<Answer> {
  const { timeoutMs = TIMEOUT_MS } = deps;
  const kept = Object.entries(deps.env).filter(([name]) => !REMOVED.test(name));
  const env = { ...Object.fromEntries(kept), ...ENVIRONMENT };
  try {
    const result = await deps.inEmptyFolder((cwd) =>
      deps.run(program, args, { cwd, env, input: prompt, timeoutMs, maxBytes: MAX_REPLY_BYTES }),
    );
    return readResult(program, timeoutMs, result);
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { message, hint = 'Try it again.' } = error;
    const other = '"steward config set sense.insight.command PROGRAM" names another.';
    return { reason: cleanLine(message, MAX_REASON).replace(/\.$/, ''), hint: `${hint} ${other}` };
  }
}

function readResult(program: string, limitMs: number, result: RunResult): Answer {
  const { code, signal, stdout, stderr, timedOut, truncated } = result;
  const hint = 'See what is sent, and to which program, with "steward sense insight preview".';
  if (timedOut || truncated)
    return { reason: `${program} gave no answer within ${limitMs / 1000} s`, hint: 'Try it later.' };
  const reply = parseReply(stdout);
  if ('reason' in reply && reply.refused)
    return { reason: reply.reason, hint: `See to it by running ${program} yourself.` };
  if (code !== 0) {
    const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
    const said = cleanLine(stderr.trim().split('\n').at(-1) ?? '', MAX_REASON);
    return { reason: `${program} ${how}${said === '' ? '' : `: ${said}`}`, hint };
  }
  return 'text' in reply ? { ...reply.text, model: reply.model } : { reason: reply.reason, hint };
}

/** Stores what came of the call. Call it under the lock of sense. */
function keep({ store, clock, insights }: BuildDeps, plan: Plan, answer: Answer): InsightOutcome {
  const { date, events } = plan;
  // A purge while the assistant was thinking must not be undone by what it says of the day.
  const now = store.readLog(date).events.slice(0, events.length);
  if (JSON.stringify(now) !== JSON.stringify(events))
    return { status: 'skipped', date, reason: 'what was sent has been purged meanwhile' };
  const generatedAt = toIso(clock.now());
  const before = insights.read(date);
  store.prepare();
  insights.prepare(clock.now());
  if ('reason' in answer) {
    insights.write(date, { read: before.read, failed: { at: generatedAt, reason: answer.reason } });
    return { status: 'failed', date, ...answer };
  }
  const read: InsightRead = { ...answer, ...span(events), events: events.length, generatedAt };
  insights.write(date, { read, failed: null });
  return { status: 'built', date, read };
}
