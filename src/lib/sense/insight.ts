import { isAbsolute } from 'node:path';

import type { SenseConfig } from '../config/schema';
import { StewardError } from '../errors';
import type { Run, RunResult } from '../platform/process/process';
import { cleanLine } from '../platform/terminal/terminal';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { dayOf, type Day } from '../platform/time/time';
import { appMatcher } from '../time/classify';
import type { SenseEvent } from '../time/event';
import { insightPrompt, insightSummary, isEmptySummary, parseReply } from './insight-prompt';
import type { InsightRead, InsightStore } from './insight-reads';
import type { SenseStore } from './store';

export interface InsightDeps {
  clock: Clock;
  store: Pick<SenseStore, 'readLog' | 'prepare'>;
  insights: InsightStore;
  config: Pick<SenseConfig, 'enabled' | 'exclude'> & { insight: Pick<SenseConfig['insight'], 'command'> };
  timezone: string;
  /** Returns the sessions by the assistants' ids. */
  sessions: () => ReadonlyMap<string, { slug: string }>;
}

export interface BuildDeps extends InsightDeps {
  run: Run;
  /** The environment variables that the assistant inherits, except for those that steward removes. */
  env: NodeJS.ProcessEnv;
  /** Calls `use` with an empty temporary folder. */
  inEmptyFolder: <T>(use: (folder: string) => Promise<T>) => Promise<T>;
  /** Runs `work`, or throws `locked` if another build is running on this machine. */
  alone: <T>(work: () => Promise<T>) => Promise<T>;
  locked: <T>(work: () => T | Promise<T>) => Promise<T>;
  /** Timeout for the assistant, in ms. Default: 90,000. */
  timeoutMs?: number;
}

export type InsightOutcome =
  | { status: 'built'; date: Day; read: InsightRead }
  /** Nothing was sent to the assistant. */
  | { status: 'skipped'; date: Day; reason: string }
  /** The build failed. The last insight is unchanged. */
  | { status: 'failed'; date: Day; reason: string; hint: string };

const TIMEOUT_MS = 90_000;
const MAX_REPLY_BYTES = 256 * 1024;
const MAX_REASON = 200;
const NO_EVENTS = 'nothing was captured today';

const ENVIRONMENT = {
  // Makes steward's hooks ignore this session.
  STEWARD_INTERNAL: '1',
  // Disables customization. This variable is used instead of the flag --safe-mode, which older versions of
  // the assistant reject.
  CLAUDE_CODE_SAFE_MODE: '1',
  // Disables updates and telemetry.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Variables to remove from the environment. API credentials would override the assistant's subscription. */
const REMOVED = /_(?:API_KEY|AUTH_TOKEN)$|^(?:CLAUDECODE|CLAUDE_CODE_ENTRYPOINT)$/i;

/** Returns the program and its arguments from the `sense.insight.command` setting. */
export function insightCommand(command: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...args] = command;
  if (/[\\/]/.test(program) && !isAbsolute(program)) {
    throw new StewardError('config', `sense.insight.command is a relative path: ${program}.`, {
      hint: 'Use a program on the PATH, or an absolute path.',
    });
  }
  return [program, ...args];
}

/** What a build may do only if it is asked to. */
interface Asked {
  /** Send even if there are no new events. */
  force?: boolean;
  /** Send the names of sites too. */
  sites?: boolean | undefined;
}

export async function previewInsight(deps: InsightDeps, { sites }: Pick<Asked, 'sites'> = {}) {
  // No prompt means that there are no events; `skipped` says why a build would not send it.
  const { date, prompt = null, skipped = null } = await planInsight(deps, { sites });
  const command: readonly string[] = insightCommand(deps.config.insight.command);
  return { date, command, prompt, skipped };
}

/** The prompt that a build would send now, and the command that it would run. */
export type InsightPreview = Awaited<ReturnType<typeof previewInsight>>;

/** Builds today's insight with one call to the assistant. Skips the build if there are no new events. */
export function buildInsight(deps: BuildDeps, asked: Asked): Promise<InsightOutcome> {
  return deps.alone(async () => {
    const plan = await planInsight(deps, asked);
    const { date, prompt, skipped } = plan;
    if (skipped !== undefined || prompt === undefined)
      return { status: 'skipped', date, reason: skipped ?? NO_EVENTS };
    const [program, ...args] = insightCommand(deps.config.insight.command);
    const answer = await ask(deps, program, args, prompt);
    return deps.locked(() => storeAnswer(deps, plan, answer));
  });
}

interface Plan {
  date: Day;
  events: readonly SenseEvent[];
  prompt?: string;
  skipped?: string;
}

async function planInsight(deps: InsightDeps, { force = false, sites }: Asked): Promise<Plan> {
  const { clock, timezone, config } = deps;
  const date = dayOf(clock.now(), timezone);
  const events = contentEvents(deps, date);
  const sessions = deps.sessions();
  const excludes = await appMatcher(config.exclude);
  const slugOf = (session: string) => sessions.get(session)?.slug;
  const summary = insightSummary(events, { slugOf, excludes, sites });
  const plan: Plan = { date, events };
  if (!isEmptySummary(summary)) plan.prompt = insightPrompt(summary);
  if (!config.enabled) return { ...plan, skipped: 'sense.enabled is false' };
  if (plan.prompt === undefined) return { ...plan, skipped: NO_EVENTS };
  const { read } = deps.insights.read(date);
  const isIdle = read !== null && events.length === read.events && span(events).until <= read.until;
  return isIdle && !force ? { ...plan, skipped: 'no new events since the last insight' } : plan;
}

/** Returns a day's events, except for types that also occur while you are idle. */
function contentEvents({ store }: Pick<InsightDeps, 'store'>, date: Day): SenseEvent[] {
  return store.readLog(date).events.filter(({ type }) => type !== 'away' && type !== 'session-state');
}

function span(events: readonly SenseEvent[]): { since: string; until: string } {
  const times = events.map(({ ts }) => toIso(parseIso(ts) ?? 0)).sort();
  return { since: times[0] ?? '', until: times.at(-1) ?? '' };
}

type Answer = Pick<InsightRead, 'narrative' | 'contentTypes' | 'model'> | { reason: string; hint: string };

/** Runs the assistant in an empty folder, so that it can't read your projects. */
async function ask(deps: BuildDeps, program: string, args: readonly string[], prompt: string) {
  const { timeoutMs = TIMEOUT_MS } = deps;
  const inherited = Object.entries(deps.env).filter(([name]) => !REMOVED.test(name));
  const env = { ...Object.fromEntries(inherited), ...ENVIRONMENT };
  try {
    const result = await deps.inEmptyFolder((cwd) =>
      deps.run(program, args, { cwd, env, input: prompt, timeoutMs, maxBytes: MAX_REPLY_BYTES }),
    );
    return readResult(program, timeoutMs, result);
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { message, hint = 'Try again.' } = error;
    const other = 'To use another program, run "steward config set sense.insight.command PROGRAM".';
    return { reason: cleanLine(message, MAX_REASON).replace(/\.$/, ''), hint: `${hint} ${other}` };
  }
}

function readResult(program: string, limitMs: number, result: RunResult): Answer {
  const { code, signal, stdout, stderr, timedOut, truncated } = result;
  const hint = 'To see what is sent, run "steward sense insight build --dry-run".';
  if (timedOut || truncated)
    return { reason: `${program} did not respond within ${limitMs / 1000} s`, hint: 'Retry later.' };
  const reply = parseReply(stdout);
  if ('reason' in reply && reply.refused)
    return { reason: reply.reason, hint: `Run ${program} yourself to see the problem.` };
  if (code !== 0) {
    const ending = code === null ? `was killed by ${signal}` : `exited with code ${code}`;
    const message = cleanLine(stderr.trim().split('\n').at(-1) ?? '', MAX_REASON);
    return { reason: `${program} ${ending}${message === '' ? '' : `: ${message}`}`, hint };
  }
  return 'text' in reply ? { ...reply.text, model: reply.model } : { reason: reply.reason, hint };
}

/** Stores the assistant's reply as an insight. The caller must hold the sense lock. */
function storeAnswer(deps: BuildDeps, { date, events }: Plan, answer: Answer): InsightOutcome {
  const { store, clock, insights } = deps;
  // If events were purged during the build, don't store a reply that is based on them.
  const now = contentEvents(deps, date).slice(0, events.length);
  if (JSON.stringify(now) !== JSON.stringify(events))
    return { status: 'skipped', date, reason: 'the events were purged during the build' };
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
