import { StewardError, toStewardError } from '../errors';
import { toIso, type Clock } from '../platform/clock';
import { repositoryOf } from '../platform/git-folder';
import { appendLog } from '../platform/log';
import { terminalOfParents, writeToTerminal } from '../platform/own-terminal';
import { artifactPath, readArtifact, slugOfArtifact } from '../sessions/artifact';
import { tabTitle, type PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import { isWaiting } from '../sessions/fold';
import { makeSlug } from '../sessions/slug';
import { leave, sweep, type IntentionKind } from '../sessions/spool';
import { readSessions, updateSessions, type SessionsDeps } from '../sessions/state';
import {
  appendWorkEvent,
  storedId,
  storedWord,
  WORK_EVENTS_FOLD_BYTES,
  type SessionTerminal,
  type WorkEvent,
} from '../sessions/work-events';
import {
  eventType,
  HOOK_VERBS,
  readHookJson,
  reasonOf,
  titleAnswer,
  titleSequence,
  type HookInput,
  type HookVerb,
} from './claude-code';

export interface HookDeps extends SessionsDeps {
  /** `state/spool` */
  spool: string;
  env: NodeJS.ProcessEnv;
  /** May the terminal's tab be set? */
  tab: boolean;
}

export interface HookCall {
  verb: string;
  bytes: Buffer;
  /** There was more on stdin than was kept, or its end did not come in time. */
  cut: boolean;
}

export interface HookResult {
  /** What the assistant is to read on stdout; empty as a rule. */
  output: string;
  session: string | null;
  tool?: string;
  agent?: string;
  /** What was left in the spool; null: nothing. */
  left: IntentionKind | null;
  /** What went wrong with a part that the event itself does not depend on. */
  trouble: StewardError | undefined;
}

/** The assistant waits for its hooks: busy for longer, and the next hook brings the events into the state. */
const WAIT_MS = 400;

/**
 * What a hook does: one event to the log; where a session begins, a turn or a session ends, the state is brought
 * up to date, and what other parts may want to do then is left in the spool. `usage` for an unknown verb or a
 * stdin that is none of the assistant's; what the system refuses otherwise. The caller sees that nothing of it
 * reaches the assistant.
 */
export async function runHook(deps: HookDeps, call: HookCall): Promise<HookResult> {
  const { verb, input, session } = understood(deps, call);
  const event = eventOf(deps, verb, input, session);
  // From here on the session has its artifact's name, and what follows is to bear it.
  const isNamed = event.artifact === true && slugOf(deps, session, undefined) !== event.slug;
  const size = appendWorkEvent(deps.workEvents, event);
  const about: HookResult = {
    output: '',
    session,
    ...(event.tool === undefined ? {} : { tool: event.tool }),
    ...(event.agent === undefined ? {} : { agent: event.agent }),
    left: null,
    trouble: undefined,
  };
  const leaves = leftBy(verb, event);
  const isTold = leaves === 'agent-ended' || leaves === 'attention';
  if (isTold) {
    try {
      about.left = leaveFor(deps, leaves, input, event, undefined);
    } catch (error) {
      about.trouble = toStewardError(error);
    }
  }
  const isTurn = verb === 'session-start' || verb === 'stop' || verb === 'session-end';
  if (!isTurn && !isNamed && size < WORK_EVENTS_FOLD_BYTES) {
    return event.phase === undefined ? about : { ...about, output: setTab(deps, input, event, undefined) };
  }
  try {
    const found = await updateSessions(deps, WAIT_MS, [session], (state) =>
      Object.values(state.sessions).find(({ sessionIds }) => sessionIds.includes(session)),
    );
    about.output = setTab(deps, input, event, found);
    if (leaves !== null && !isTold) about.left = leaveFor(deps, leaves, input, event, found);
    if (isTurn) sweep({ clock: deps.clock, path: deps.spool });
  } catch (error) {
    about.trouble = toStewardError(error);
    // The state comes with the next hook; the end of a session does not come again.
    if (about.trouble.kind === 'locked' && verb === 'session-end') {
      leaveFor(deps, 'session-ended', input, event, undefined);
    }
  }
  return about;
}

/** What `runHook` would do, and nothing of it done. */
export function planHook(deps: HookDeps, call: HookCall): { event: WorkEvent; leaves: IntentionKind | null } {
  const { verb, input, session } = understood(deps, call);
  const event = eventOf(deps, verb, input, session);
  return { event, leaves: leftBy(verb, event) };
}

/** What of an event is for later. */
function leftBy(verb: HookVerb, event: WorkEvent): IntentionKind | null {
  if (verb === 'stop') return 'turn-ended';
  if (verb === 'session-end') return 'session-ended';
  if (verb === 'subagent-stop') return 'agent-ended';
  return verb === 'notification' && isWaiting(event.reason) ? 'attention' : null;
}

function understood(
  deps: Pick<HookDeps, 'env'>,
  call: HookCall,
): { verb: HookVerb; input: HookInput; session: string } {
  const verb = HOOK_VERBS.find((known) => known === call.verb);
  if (verb === undefined) {
    throw new StewardError('usage', `There is no hook "${call.verb}".`, {
      hint: `The hooks are ${HOOK_VERBS.join(', ')}.`,
    });
  }
  const read = readHookJson(call.bytes, call.cut, deps.env);
  const session = 'problem' in read ? undefined : storedId(read.input.session);
  if ('problem' in read || session === undefined) {
    const problem = 'problem' in read ? read.problem : 'the hook JSON has no session_id';
    throw new StewardError('usage', `${problem[0]?.toUpperCase()}${problem.slice(1)}.`, {
      hint: 'Hooks are called by the assistant, with its hook JSON on stdin; `steward hooks status` shows what is registered.',
    });
  }
  return { verb, input: read.input, session };
}

function eventOf(deps: HookDeps, verb: HookVerb, input: HookInput, session: string): WorkEvent {
  const nowMs = deps.clock.now();
  const repo = storedWord(input.cwd === undefined ? undefined : repositoryOf(input.cwd)?.name) ?? null;
  const tool = verb === 'tool' ? storedWord(input.tool) : undefined;
  const agent = storedWord(input.agent);
  const reason = storedWord(reasonOf(verb, input));
  const type = eventType(verb, input);
  const written =
    type === 'tool-after' && input.file !== undefined ? artifactOf(deps, input.file) : undefined;
  const starts = verb === 'session-start';
  const slug = written?.slug ?? slugOf(deps, session, starts ? { nowMs, repo } : undefined);
  return {
    ts: toIso(nowMs),
    type,
    session,
    slug,
    repo,
    ...(tool === undefined ? {} : { tool }),
    ...(written === undefined ? {} : { artifact: true }),
    ...(written?.phase === undefined ? {} : { phase: written.phase }),
    ...(agent === undefined ? {} : { agent }),
    ...(reason === undefined ? {} : { reason }),
    ...(starts ? { machine: deps.machineId, terminal: terminalOf(deps.env) } : {}),
  };
}

/** The session's slug as it was at its last turn; a session that begins gets one. */
function slugOf(
  deps: HookDeps,
  session: string,
  begins: { nowMs: number; repo: string | null } | undefined,
): string | null {
  const known = Object.values(readSessions(deps.livePath).sessions).find(({ sessionIds }) =>
    sessionIds.includes(session),
  );
  if (known !== undefined) return known.slug;
  return begins === undefined ? null : makeSlug(deps.dayOf(begins.nowMs), begins.repo ?? '', session);
}

function artifactOf(deps: HookDeps, file: string): { slug: string; phase: PhaseId | undefined } | undefined {
  const slug = slugOfArtifact(deps.sessions, file);
  const artifact = slug === undefined ? undefined : readArtifact(artifactPath(deps.sessions, slug));
  return slug === undefined || artifact === undefined
    ? undefined
    : { slug, phase: artifact.phase ?? undefined };
}

function terminalOf(env: NodeJS.ProcessEnv): SessionTerminal {
  const own = terminalOfParents();
  return {
    tty: own?.tty ?? null,
    program: storedWord(env['TERM_PROGRAM']) ?? null,
    kittySocket: storedId(env['KITTY_LISTEN_ON']) ?? null,
    pid: own?.pid ?? null,
    started: own?.started ?? null,
  };
}

/**
 * Sets the tab where the phase may have changed: through the assistant where it takes that, else on the terminal
 * that the session began on. Returns what the assistant is to read.
 */
function setTab(deps: HookDeps, input: HookInput, event: WorkEvent, session: Session | undefined): string {
  if (!deps.tab || event.type === 'session-end') return '';
  const phase = session?.phase ?? event.phase;
  if (phase === undefined || event.agent !== undefined) return '';
  const title = tabTitle(phase);
  if (input.takesSequence) return titleAnswer(title);
  const live = session ?? readSessions(deps.livePath).sessions[event.slug ?? ''];
  const { tty, pid, started } = live?.terminal ?? {};
  if (live?.machine === deps.machineId && typeof tty === 'string' && typeof pid === 'number') {
    writeToTerminal({ tty, pid, started: started ?? '' }, titleSequence(title));
  }
  return '';
}

function leaveFor(
  deps: HookDeps,
  kind: IntentionKind,
  input: HookInput,
  event: WorkEvent,
  session: Session | undefined,
): IntentionKind {
  const tookMs = Date.parse(event.ts) - Date.parse(session?.promptedAt ?? '');
  leave(
    { clock: deps.clock, machineId: deps.machineId, path: deps.spool },
    {
      kind,
      session: event.session,
      slug: session?.slug ?? event.slug,
      transcript: storedPath(input.transcript),
      ...(kind === 'turn-ended' && tookMs >= 0 ? { durationSec: Math.round(tookMs / 1000) } : {}),
      ...(kind === 'attention' && event.reason !== undefined ? { reason: event.reason } : {}),
    },
  );
  return kind;
}

/** A path is kept as it came, or not at all. */
function storedPath(text: string | undefined): string | null {
  return text === undefined || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text) ? null : text;
}

export interface HookLine {
  hook: string;
  session: string | null;
  agent?: string;
  tool?: string;
  ok: boolean;
  /** Since the process began. */
  ms: number;
  /** The kind of what went wrong, and what the system called it; never a text of anybody's. */
  error?: string;
}

const LOG_ROTATE_BYTES = 4 * 1024 * 1024;

/** The line of `observability/hooks.jsonl` (service.md: Event log channel). */
export function logHook(deps: { clock: Clock; path: string }, line: HookLine): void {
  const nowMs = deps.clock.now();
  appendLog(deps.path, JSON.stringify({ ts: toIso(nowMs), ...line }), {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs,
  });
}
