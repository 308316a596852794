import { setTimeout as delay } from 'node:timers/promises';

import { StewardError, undefinedIf } from '../errors';
import { cleanLines } from '../platform/terminal/terminal';
import type { Clock } from '../platform/time/clock';
import { failureWords, labelOf, namesOf, requestWords } from '../sessions/describe';
import { isLive, type Session } from '../sessions/session';
import { drain, waitingIntentions, type Consumers, type SpoolDeps } from '../sessions/spool';
import { type Intention } from '../sessions/intention';
import type { DeliverOptions } from './deliver';
import type { NotifyRequest } from './message';
import { short } from './text';

/** The end of a turn, read from the assistant's transcript. */
interface TurnEnd {
  text?: string;
  id?: string;
  isError: boolean;
}

/**
 * Where you are: at the session's terminal, at your desk but not at it, away, or unknown. `elsewhere`: at another
 * machine, which tells you what this one's sessions ask.
 */
export type Presence = 'front' | 'desk' | 'away' | 'elsewhere' | 'unknown';

export function isAtDesk(presence: Presence): boolean {
  return presence === 'desk' || presence === 'front';
}

export interface TriggerDeps {
  clock: Clock;
  spool: SpoolDeps;
  /** Returns the sessions of the last day. */
  sessions: () => readonly Session[];
  /** Returns the name of a session's assistant if several assistants have sessions; otherwise, undefined. */
  assistantOf: (session: Session) => string | undefined;
  turnEnd: (transcript: string) => TurnEnd | undefined;
  presence: (session: Session | undefined) => Promise<Presence>;
  /** Returns whether a request of the session may soon be answerable from elsewhere. */
  isHolding: (session: Session | undefined) => boolean;
  accept: (request: NotifyRequest) => Promise<unknown>;
  daName: () => string;
  /** Returns which finished turns cause a notification (`notify.turnEnd`). */
  notifiedTurns: () => 'long' | 'always' | 'never';
  longTaskMinutes: () => number;
}

/** Agents that end within this time of each other share a notification. */
const TOGETHER_MS = 2_000;
const LONGEST_WAIT_MS = 15_000;
/** Maximum number of times to read a transcript that is still being written. */
const MAX_READS = 3;
const RETRY_MS = 200;
const LONGEST_MS = 60_000;

/** Processes the spool and delivers the resulting notifications, for machines without a daemon. */
export async function runTriggers(deps: TriggerDeps, deliver: (options: DeliverOptions) => Promise<unknown>) {
  const endMs = deps.clock.monotonic() + LONGEST_MS;
  for (;;) {
    await drainTriggers(deps);
    if (!hasTriggers(deps) || deps.clock.monotonic() > endMs) break;
    await delay(RETRY_MS);
  }
  await deliver({ patienceMs: LONGEST_MS, longestMs: 10 * LONGEST_MS });
  return { left: hasTriggers(deps) };
}

/**
 * Creates notifications from hook events when a turn or background agents end and when a session is waiting
 * for you. Only one process per machine does this at a time.
 */
export async function drainTriggers(deps: TriggerDeps): Promise<void> {
  const agents = groupsOf(deps);
  const consumers: Consumers = {
    'turn-ended': (intention) => turnEnded(deps, intention),
    attention: (intention) => attention(deps, intention),
    ...(agents === undefined ? {} : { 'agent-ended': (intention) => agentEnded(deps, agents, intention) }),
  };
  // Events that arrived after this run started are left for the next run.
  await drain(deps.spool, consumers).catch(undefinedIf('canceled'));
}

/** Returns whether the spool has hook events that may cause notifications. */
export function hasTriggers(deps: Pick<TriggerDeps, 'spool'>): boolean {
  return ownIntentions(deps, ['turn-ended', 'agent-ended', 'attention']).length > 0;
}

function ownIntentions({ spool }: Pick<TriggerDeps, 'spool'>, kinds: readonly Intention['kind'][]) {
  return waitingIntentions(spool.area.spool).filter(
    ({ kind, machine }) => kinds.includes(kind) && machine === spool.machineId,
  );
}

function sessionOf({ sessions }: TriggerDeps, { session }: Intention): Session | undefined {
  return sessions().find(({ sessionIds }) => sessionIds.includes(session));
}

async function turnEnded(deps: TriggerDeps, intention: Intention): Promise<void> {
  const session = sessionOf(deps, intention);
  const durationSec = tookSec(session, intention);
  const { line, isError, id } = endOf(deps, intention, session);
  const name = nameOf(deps, session);
  const about = {
    ...BASE,
    isBridged: intention.isBridged,
    dedupe: `turn:${intention.session.slice(0, 80)}:${id.slice(0, 80)}`,
    thread: session?.slug,
    ...(durationSec === undefined ? {} : { durationSec: Math.min(durationSec, MAX_DURATION_SEC) }),
  };
  if (isError) {
    await deps.accept({
      ...about,
      event: 'error',
      message: line ?? `${name} ${stopOf(session, deps.clock.now())}.`,
    });
    return;
  }
  if (!isNotified(deps, durationSec)) return;
  const isLong = durationSec !== undefined && durationSec > deps.longTaskMinutes() * 60;
  if (line !== undefined) {
    await deps.accept({ ...about, title: name, event: 'taskComplete', message: line });
  } else if (isLong || deps.notifiedTurns() === 'always') {
    const after = durationSec === undefined ? '' : ` after ${spoken(durationSec)}`;
    await deps.accept({
      ...about,
      event: isLong ? 'longTask' : 'taskComplete',
      message: `${name} finished${after}.`,
    });
  }
}

/**
 * Returns how a turn ended, from the hook event or the transcript. Throws `unavailable` if the transcript is
 * incomplete and must be read again later.
 */
function endOf(
  deps: TriggerDeps,
  { transcript, attempts, ended, id }: Intention,
  session: Session | undefined,
): { line: string | undefined; isError: boolean; id: string } {
  if (ended !== undefined) {
    return { line: ended.line ?? undefined, isError: ended.isError, id: session?.turnAt ?? id };
  }
  const end = transcript === null ? undefined : deps.turnEnd(transcript);
  if (end !== undefined && end.text === undefined && !end.isError && attempts + 1 < MAX_READS) {
    throw new StewardError('unavailable', 'The transcript does not contain the whole turn yet.', {
      hint: 'No action needed: steward will read the transcript again.',
    });
  }
  const line = end?.text === undefined ? undefined : completionLine(end.text, deps.daName());
  return { line, isError: end?.isError === true, id: end?.id ?? id };
}

function stopOf(session: Session | undefined, nowMs: number): string {
  return session?.failure === undefined ? 'stopped with an error' : failureWords(session.failure, nowMs);
}

function spoken(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Returns the duration of the turn; undefined if its start is unknown or another turn has started. */
function tookSec(session: Session | undefined, { at }: Pick<Intention, 'at'>): number | undefined {
  const tookMs = Date.parse(at) - Date.parse(session?.turnAt ?? '');
  return tookMs >= 0 ? Math.round(tookMs / 1000) : undefined;
}

const MAX_DURATION_SEC = 31 * 86_400;
const BASE = { isNoticed: true, voiceEnabled: true, source: 'da', tags: [] as string[] } as const;
export const ATTENTION = { ...BASE, event: 'attention' } as const;

async function attention(deps: TriggerDeps, intention: Intention): Promise<void> {
  const session = sessionOf(deps, intention);
  const request = session?.requests.find(({ at }) => at === intention.asked);
  // Skip reminders, requests that have been answered, and sessions that have ended.
  const isIdlePrompt = intention.reason === 'idle_prompt';
  const isIdle = isIdlePrompt && session?.activity === 'waiting' && session.requests.length === 0;
  if (session !== undefined && request === undefined && !isIdle) return;
  if (isIdlePrompt && !isTurnNotified(deps, session)) return;
  const presence = await deps.presence(session);
  const { attempts } = intention;
  if (presence === 'front' || (presence === 'elsewhere' && request !== undefined)) return;
  if (presence === 'away' && request !== undefined && attempts < MAX_READS && deps.isHolding(session))
    throw new StewardError('unavailable', 'The request is not held yet.', { hint: 'No action needed.' });
  const name = nameOf(deps, session);
  await deps.accept({
    ...ATTENTION,
    isBridged: intention.isBridged,
    message: `${name} ${requestOf(intention.reason, request?.tool ?? undefined)}.`,
    // Equal requests of one wait share a key, so that only one notification is sent.
    dedupe: `attention:${intention.session.slice(0, 80)}:${session?.waitingSince ?? intention.id}`,
    thread: session?.slug,
    ...(presence === 'unknown' ? {} : { reach: presence === 'elsewhere' ? 'away' : presence }),
  });
}

/** Returns whether the end of the session's last turn causes a notification, by its duration. */
function isTurnNotified(deps: TriggerDeps, session: Session | undefined): boolean {
  const endedAt = session?.waitingSince;
  return isNotified(deps, endedAt === undefined ? undefined : tookSec(session, { at: endedAt }));
}

function isNotified(deps: TriggerDeps, durationSec: number | undefined): boolean {
  const turns = deps.notifiedTurns();
  const isShort = durationSec !== undefined && durationSec <= deps.longTaskMinutes() * 60;
  return turns === 'always' || (turns === 'long' && !isShort);
}

/** Maps a hook event id to a group of ended agents. Only the last event in a group causes a notification. */
type Groups = ReadonlyMap<string, { last: string; count: number }>;

/** Groups ended agents by session. Returns undefined while more agents may still join a group. */
function groupsOf(deps: TriggerDeps): Groups | undefined {
  const ended = ownIntentions(deps, ['agent-ended']);
  const ages = ended.map(({ at }) => deps.clock.now() - Date.parse(at));
  const isSettled = ages.every((age) => age >= TOGETHER_MS || age < 0);
  if (!isSettled && Math.max(...ages) < LONGEST_WAIT_MS) return undefined;
  const groups = new Map<string, { last: string; count: number }>();
  for (const { session } of ended) {
    const ids = ended.filter((other) => other.session === session).map(({ id }) => id);
    for (const id of ids) groups.set(id, { last: ids.at(-1) ?? id, count: ids.length });
  }
  return groups;
}

async function agentEnded(deps: TriggerDeps, groups: Groups, intention: Intention): Promise<void> {
  const group = groups.get(intention.id);
  if (group === undefined) throw new StewardError('canceled', 'The run has already started.');
  if (group.last !== intention.id) return;
  const session = sessionOf(deps, intention);
  const name = nameOf(deps, session);
  const { count } = group;
  await deps.accept({
    event: 'backgroundAgent',
    message: count === 1 ? `${name}: an agent finished.` : `${name}: ${count} agents finished.`,
    voiceEnabled: false,
    source: 'subagent',
    tags: [],
    dedupe: `agents:${intention.id}`,
  });
}

function requestOf(reason: string | undefined, tool: string | undefined): string {
  const request = requestWords(reason, tool);
  return request ?? (reason === 'idle_prompt' ? 'is waiting for your next prompt' : 'asks for your input');
}

/**
 * Returns a session's name for a message, as lists show it, such as `infra·main`. The assistant's name follows
 * in parentheses if several assistants have sessions.
 */
function nameOf({ assistantOf, sessions, clock }: TriggerDeps, session: Session | undefined): string {
  if (session === undefined) return 'The assistant';
  const assistant = assistantOf(session);
  const live = sessions().filter((other) => other === session || isLive(other, clock.now()));
  const name = labelOf(session) === null ? session.task : namesOf(live).get(session.slug);
  if (name === null || name === undefined) return assistant ?? 'The assistant';
  return assistant === undefined ? name : `${name} (${assistant})`;
}

const MAX_CHARS = 300;
/** Number of UTF-16 code units to search at the end of a response. */
const MAX_RESPONSE = 64 * 1024;
const MAX_LINE = 2000;
/** Matches emoji, list markers and emphasis marks around a line. */
const AROUND = /^[^\p{L}\p{N}]+|(?<![\s*_`>])[\s*_`>]+$/gu;

/**
 * Returns the response's last line that starts with `Completed:`, `Voice:` or the assistant's name and a
 * colon, or undefined if there is no such line. Ignores code blocks.
 */
export function completionLine(response: string, daName: string): string | undefined {
  const openings = [daName, 'completed', 'voice'].map((name) => `${name.toLowerCase()}:`);
  const lines = withoutCode(cleanLines(response.slice(-MAX_RESPONSE)).split('\n')).reverse();
  for (const line of lines) {
    const bare = line.slice(0, MAX_LINE).replace(AROUND, '');
    const spaced = bare.replace(/^([^:]{1,60}?)[\s*_]*:[\s*_]*/u, '$1: ');
    const opening = openings.find((name) => spaced.toLowerCase().startsWith(name));
    const text = opening === undefined ? '' : spaced.slice(opening.length).replace(AROUND, '').trim();
    if (text !== '') return short(text, MAX_CHARS);
  }
  return undefined;
}

/** Removes fenced code blocks, which may contain lines such as `voice: alloy`. */
function withoutCode(lines: readonly string[]): string[] {
  const rest: string[] = [];
  let open: { fence: string; at: number } | undefined;
  for (const line of lines) {
    const fence = /^[ \t]*(```|~~~)/.exec(line)?.[1];
    rest.push(line);
    if (fence === undefined) continue;
    if (open === undefined) open = { fence, at: rest.length - 1 };
    else if (open.fence === fence) {
      rest.length = open.at;
      open = undefined;
    }
  }
  return rest;
}
