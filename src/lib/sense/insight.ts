import { isAbsolute } from 'node:path';

import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import type { Run, RunResult } from '../platform/process/process';
import { cleanLine } from '../platform/terminal/terminal';
import { type Clock, parseIso, toIso } from '../platform/time/clock';
import { type Day, dayOf } from '../platform/time/time';
import { appMatcher } from './classify';
import type { SenseEvent } from './event';
import { parseReply, insightPrompt, insightSummary, isEmptySummary } from './insight-prompt';
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
  /** How long the assistant may take; 90 s when left out. */
  timeoutMs?: number;
}

export type InsightOutcome =
  | { status: 'built'; date: Day; read: InsightRead }
  /** Nothing was sent: the hour was idle, or there is nothing to tell of. */
  | { status: 'skipped'; date: Day; reason: string }
  /** The call gave no read. Stored beside the last good one, never in its place. */
  | { status: 'failed'; date: Day; reason: string; hint: string };

const TIMEOUT_MS = 90_000;
/** An answer is two KiB, with what the assistant's JSON output has around it. */
const MAX_REPLY_BYTES = 256 * 1024;

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

export async function previewInsight(deps: InsightDeps): Promise<InsightPreview> {
  const plan = await planRead(deps);
  const { date, prompt } = plan;
  return {
    date,
    command: insightCommand(deps.config.insight.command),
    prompt: prompt ?? null,
    skipped: skipReason(deps, plan) ?? null,
  };
}

/**
 * The content-type read of today (service.md: Sense content-type read): one call of the assistant with the
 * bounded summary, skipped when nothing came since the last good read. The only part of sense that lets
 * anything leave the machine, and only when it is called. `force` reads an idle hour again.
 */
export function buildInsight(deps: BuildDeps, options: { force: boolean }): Promise<InsightOutcome> {
  return deps.alone(async () => {
    const plan = await planRead(deps);
    const skipped = skipReason(deps, plan, options.force);
    if (skipped !== undefined || plan.prompt === undefined) {
      return { status: 'skipped', date: plan.date, reason: skipped ?? NOTHING };
    }
    const [program, ...args] = insightCommand(deps.config.insight.command);
    const answer = await ask(deps, program, args, plan.prompt);
    return deps.locked(() => keep(deps, plan, program, answer));
  });
}

interface Plan {
  date: Day;
  events: readonly SenseEvent[];
  prompt: string | undefined;
}

const NOTHING = 'nothing is captured of today yet';

async function planRead(deps: InsightDeps): Promise<Plan> {
  const date = dayOf(deps.clock.now(), deps.timezone);
  const { events } = deps.store.readLog(date);
  const slugs = deps.sessionSlugs();
  const summary = insightSummary(events, {
    slugOf: (session) => slugs.get(session),
    excludes: await appMatcher(deps.config.exclude),
  });
  return { date, events, prompt: isEmptySummary(summary) ? undefined : insightPrompt(summary) };
}

function skipReason(deps: InsightDeps, plan: Plan, force = false): string | undefined {
  if (!deps.config.enabled) return 'sense.enabled is false';
  if (plan.prompt === undefined) return NOTHING;
  const { read } = deps.insights.read(plan.date);
  if (force || read === null) return undefined;
  const [, until] = span(plan.events);
  const idle = plan.events.length === read.events && until <= read.until;
  return idle ? 'nothing came since the last read' : undefined;
}

/** The times of the first and the last event, in one form whatever their zones. */
function span(events: readonly SenseEvent[]): [since: string, until: string] {
  const times = events.map(({ ts }) => toIso(parseIso(ts) ?? 0)).sort();
  return [times[0] ?? '', times[times.length - 1] ?? ''];
}

type Answer = { result: RunResult } | { error: StewardError };

/** The call, in an empty folder: no project of the person is near. What comes of it is looked at afterwards. */
async function ask(
  deps: BuildDeps,
  program: string,
  args: readonly string[],
  prompt: string,
): Promise<Answer> {
  try {
    const result = await deps.inEmptyFolder((cwd) =>
      deps.run(program, args, {
        cwd,
        env: insightEnvironment(deps.env).env,
        input: prompt,
        timeoutMs: timeoutMs(deps),
        maxBytes: MAX_REPLY_BYTES,
      }),
    );
    return { result };
  } catch (error) {
    if (error instanceof StewardError) return { error };
    throw error;
  }
}

/** Stores what came of the call. Call it under the lock of sense. */
function keep(deps: BuildDeps, plan: Plan, program: string, answer: Answer): InsightOutcome {
  const { date, events } = plan;
  // A purge while the assistant was thinking must not be undone by what it says of the day.
  const now = deps.store.readLog(date).events.slice(0, events.length);
  if (JSON.stringify(now) !== JSON.stringify(events)) {
    return { status: 'skipped', date, reason: 'what was sent has been purged meanwhile' };
  }
  const generatedAt = toIso(deps.clock.now());
  const before = deps.insights.read(date);
  deps.store.prepare();
  deps.insights.prepare(deps.clock.now());
  const found =
    'error' in answer ? failure(answer.error) : readResult(program, timeoutMs(deps), answer.result);
  if ('reason' in found) {
    deps.insights.write(date, { read: before.read, failed: { at: generatedAt, reason: found.reason } });
    return { status: 'failed', date, ...found };
  }
  const [since, until] = span(events);
  const read = { ...found, since, until, events: events.length, generatedAt };
  deps.insights.write(date, { read, failed: null });
  return { status: 'built', date, read };
}

type Failure = { reason: string; hint: string };

function failure(error: StewardError): Failure {
  return {
    reason: cleanLine(error.message, MAX_REASON).replace(/\.$/, ''),
    hint: `${error.hint ?? 'Try it again.'} "steward config set sense.insight.command PROGRAM" names another.`,
  };
}

function readResult(
  program: string,
  limitMs: number,
  result: RunResult,
): Pick<InsightRead, 'narrative' | 'contentTypes' | 'model'> | Failure {
  const hint = 'See what is sent, and to which program, with "steward sense insight preview".';
  if (result.timedOut || result.truncated) {
    return { reason: `${program} gave no answer within ${limitMs / 1000} s`, hint: 'Try it later.' };
  }
  const reply = parseReply(result.stdout);
  if ('reason' in reply && reply.refused) {
    return { reason: reply.reason, hint: `See to it by running ${program} yourself.` };
  }
  if (result.code !== 0) {
    const how =
      result.code === null ? `was ended by ${result.signal}` : `ended with exit code ${result.code}`;
    const said = lastLine(result.stderr);
    return { reason: `${program} ${how}${said === '' ? '' : `: ${said}`}`, hint };
  }
  return 'text' in reply ? { ...reply.text, model: reply.model } : { reason: reply.reason, hint };
}

const MAX_REASON = 200;

function lastLine(text: string): string {
  return cleanLine(text.trim().split('\n').at(-1) ?? '', MAX_REASON);
}

function timeoutMs(deps: BuildDeps): number {
  return deps.timeoutMs ?? TIMEOUT_MS;
}

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

/** What the environment has for the assistant beside the person's own. */
const ENVIRONMENT = {
  // Our own hooks return at once: the question is no session of the person.
  STEWARD_INTERNAL: '1',
  // What --safe-mode sets, where an older version would refuse the flag: no customisation of any kind.
  CLAUDE_CODE_SAFE_MODE: '1',
  // No update and no telemetry by the way.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Credentials that would be billed in place of a subscription (service.md: Authentication). */
const CREDENTIAL = /_(?:API_KEY|AUTH_TOKEN)$/i;
/** By these the assistant knows that it was started within itself, and refuses. */
const NESTED = /^(?:CLAUDECODE|CLAUDE_CODE_ENTRYPOINT)$/i;

/** The environment that the assistant gets, and the names of the variables that were taken from it. */
export function insightEnvironment(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; removed: string[] } {
  const removed = Object.keys(env).filter((name) => CREDENTIAL.test(name) || NESTED.test(name));
  const kept = Object.entries(env).filter(([name]) => !removed.includes(name));
  return { env: { ...Object.fromEntries(kept), ...ENVIRONMENT }, removed: removed.sort() };
}
