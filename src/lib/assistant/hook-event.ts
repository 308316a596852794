import { basename, join } from 'node:path';

import { type StewardError, toStewardError } from '../errors';
import { lstatOf } from '../platform/files/folder';
import { definedOnly } from '../platform/files/json-object';
import { branchOf, checkoutOf, type GitFolder } from '../platform/files/git-folder';
import { appendLog } from '../platform/files/journal';
import { processHost } from '../platform/files/paths';
import { ancestorWithout, type ProcessMark } from '../platform/process/ancestor';
import { type OwnTerminal, terminalOfParents, variableOf } from '../platform/process/own-terminal';
import { isCodexDaemon } from '../platform/process/programs';
import { type Clock, toIso } from '../platform/time/clock';
import { artifactOf, artifactPath, slugOfArtifact } from '../sessions/artifact';
import { isWaiting } from '../sessions/requests';
import { CLAUDE_CODE, idOfKey, type AssistantId } from '../sessions/session-key';
import { isRestricted } from '../sessions/restricted';
import { isNameless, makeSlug, namelessSlug } from '../sessions/slug';
import type { Session } from '../sessions/session';
import { type SessionsDeps, storedSession, storedSlug } from '../sessions/state';
import {
  type SessionTerminal,
  type WorkEvent,
  storedId,
  storedPath,
  storedWord,
} from '../sessions/work-events';
import { codexWindow } from './codex-window';
import { copilot } from './copilot';
import { type HookInput, type HookVerb, asksOf, eventType, isFailure, reasonOf } from './payload';
import { resetTime } from './reset-time';
import { readReviewer } from '../sessions/turn-log';

export interface EventDeps extends SessionsDeps {
  env: NodeJS.ProcessEnv;
}

export interface HookDeps extends EventDeps {
  tab: boolean;
  /** Whether to tell the model the path of the session file. */
  tellAssistant: boolean;
  /** Extracts the line addressed to the user from an assistant's message. */
  completionLine?: (message: string) => Promise<string | undefined>;
  /** Handles a user's prompt and may return a message to show. */
  onPrompt?: (prompt: HeardPrompt) => string | undefined | Promise<string | undefined>;
}

export interface HeardPrompt {
  text: string;
  session: string;
  slug: string | null;
}

/** The first error from a hook's steps. A failed step doesn't stop the other steps. */
export interface Troubles {
  first: StewardError | undefined;
}

/** Runs a step. On failure, records the error and returns undefined. */
export function tried<T>(troubles: Troubles, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    troubles.first ??= toStewardError(error);
    return undefined;
  }
}

/** Runs an asynchronous step. On failure, records the error and returns the result of `otherwise`. */
export async function triedLater<T>(
  troubles: Troubles,
  work: () => T | Promise<T>,
  otherwise?: (trouble: StewardError) => T,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const trouble = toStewardError(error);
    troubles.first ??= trouble;
    return otherwise?.(trouble);
  }
}

/** Returns whether the event is the start of a session, or the end of a turn or session. */
export function isTurn(verb: HookVerb): boolean {
  return verb === 'session-start' || verb === 'stop' || verb === 'session-end';
}

/** Text in the shim's command line. The nearest ancestor process without this text is the assistant. */
const SHIM = 'steward-hook';

/** A hook call whose input has been read. */
export interface ParsedCall {
  verb: HookVerb;
  input: HookInput;
  /** The session's key; see `sessionKey`. */
  session: string;
  assistant: AssistantId;
}

/** Builds a hook's event. Omits a detail that can't be determined, and records the error in `troubles`. */
export function eventOf(deps: EventDeps, troubles: Troubles, call: ParsedCall) {
  const { verb, session, assistant } = call;
  const nowMs = deps.clock.now();
  const known = tried(troubles, () => storedSlug(deps, session));
  const nameless = namelessOf(troubles, call, known);
  const input = nameless === undefined ? call.input : { ...call.input, ...NO_NAMES };
  const checkout = tried(troubles, () => (input.cwd === undefined ? undefined : checkoutOf(input.cwd)));
  const repo = storedWord(checkout?.name) ?? null;
  const tool = storedWord(input.tool);
  const agent = storedWord(input.agent);
  const reason = storedWord(reviewerOf(troubles, assistant, verb, input) ?? reasonOf(verb, input));
  const type = eventType(verb, input);
  const asking = verb === 'tool' ? asksOf(assistant, input) : undefined;
  const written = type === 'tool-after' ? tried(troubles, () => writtenBy(deps, input.file)) : undefined;
  const starts = verb === 'session-start';
  const made = starts && known === undefined ? makeSlug(deps.dayOf(nowMs), repo ?? '', session) : known;
  const hasProcess = (starts || verb === 'prompt') && !input.isShared;
  const place = hasProcess ? tried(troubles, () => placeOf(deps, call, nowMs)) : undefined;
  const event: WorkEvent = {
    ts: toIso(nowMs),
    type,
    session,
    slug: nameless ?? written?.slug ?? made ?? null,
    repo,
    ...definedOnly({
      assistant: assistant === CLAUDE_CODE ? undefined : assistant,
      // Tool events omit the branch, because the event at the end of the turn records it.
      ...(verb === 'tool' ? {} : tried(troubles, () => branchAndWorktree(checkout))),
      model: starts ? storedWord(input.model) : undefined,
      tool,
      artifact: written === undefined ? undefined : (true as const),
      phase: written?.phase,
      agent,
      asks: type === 'tool-before' ? asking : undefined,
      call: asking === undefined ? undefined : storedWord(input.call),
      reason,
      until: isFailure(input.event) ? untilOf(call.input.lastMessage, nowMs) : undefined,
      // Some assistants send no session-start event (`qwen -p`, for example), so the first prompt records the
      // machine.
      machine:
        starts || (hasProcess && known === undefined) ? tried(troubles, () => deps.machineId) : undefined,
      process: place?.process,
      transcript: nameless === undefined ? logOf(troubles, call) : undefined,
      terminal: place?.terminal,
    }),
  };
  const isNamed = (nameless ?? written?.slug ?? known) !== known;
  const { file } = call.input;
  return { event, isNamed, heard: input, ...(nameless === undefined ? {} : { hides: { known, file } }) };
}

/** Returns the session's log. Copilot doesn't name it, but keeps it in a folder named after the session's id. */
function logOf(troubles: Troubles, { verb, input, session, assistant }: ParsedCall): string | undefined {
  if (verb !== 'session-start' && verb !== 'prompt') return undefined;
  const id = idOfKey(session);
  if (assistant !== 'copilot' || !/^[\w-]+$/.test(id)) return storedPath(input.log);
  return tried(troubles, () =>
    storedPath(join(copilot.folder(processHost()), 'session-state', id, 'events.jsonl')),
  );
}

/** The fields that may name something. */
const NAMES = ['cwd', 'transcript', 'log', 'lastMessage', 'prompt', 'file'] as const;
const NO_NAMES = Object.fromEntries(NAMES.map((name) => [name, undefined])) as Record<
  (typeof NAMES)[number],
  undefined
>;

/**
 * Returns the slug of a session that is restricted; undefined for others. A session that has worked in a
 * restricted folder stays restricted. A folder that can't be checked counts as restricted.
 */
function namelessOf(
  troubles: Troubles,
  { input: { cwd }, session }: { input: HookInput; session: string },
  known: string | undefined,
): string | undefined {
  if (known !== undefined && isNameless(known)) return known;
  const isHidden = cwd !== undefined && (tried(troubles, () => isRestricted(cwd)) ?? true);
  return isHidden ? namelessSlug(session) : undefined;
}

function untilOf(message: string | undefined, nowMs: number): string | undefined {
  const ms = resetTime(message, nowMs);
  return ms === undefined ? undefined : toIso(ms);
}

function branchAndWorktree(checkout: GitFolder | undefined): Pick<WorkEvent, 'branch' | 'worktree'> {
  if (checkout === undefined) return {};
  const { root, mainRoot, gitDir } = checkout;
  const worktree = root === mainRoot ? undefined : storedWord(basename(root));
  return { branch: storedWord(branchOf(gitDir) ?? undefined) ?? null, worktree: worktree ?? null };
}

/** Codex reports permission requests before it chooses who answers them: you, or a reviewer of its own. */
function reviewerOf(troubles: Troubles, assistant: AssistantId, verb: HookVerb, { log, event }: HookInput) {
  if (assistant !== 'codex' || verb !== 'notification' || event !== 'PermissionRequest') return undefined;
  const reviewer = log === undefined ? undefined : tried(troubles, () => readReviewer(log));
  return reviewer === undefined || isWaiting(reviewer) ? undefined : reviewer;
}

/** Returns the slug and phase of the session file that a tool wrote, if any. */
function writtenBy(deps: EventDeps, file: string | undefined) {
  const slug = file === undefined ? undefined : slugOfArtifact(deps.area.sessions, file);
  if (slug === undefined || lstatOf(artifactPath(deps.area.sessions, slug))?.isFile !== true)
    return undefined;
  return { slug, phase: artifactOf(deps.area.sessions, slug)?.phase ?? undefined };
}

/** Returns the process and terminal of a session. Only Codex's daemon can move a session to another terminal. */
function placeOf(
  { env, area }: EventDeps,
  { verb, input: { cwd }, session, assistant }: ParsedCall,
  nowMs: number,
): { process: ProcessMark | undefined; terminal: SessionTerminal | undefined } {
  const starts = verb === 'session-start';
  const caller = ancestorWithout(SHIM, starts);
  if (caller === undefined || assistant !== 'codex' || !isCodexDaemon(caller.pid)) {
    // Use the assistant's pid, because the hook's shell exits with the hook.
    const own = starts ? terminalOfParents(caller?.pid) : undefined;
    return { process: caller, terminal: starts ? terminalOf(own, (name) => env[name]) : undefined };
  }
  const before = (): Session['process'] => storedSession(area.sessionsState, session)?.process;
  const window = codexWindow({ id: idOfKey(session), cwd, env, nowMs, before });
  if (window === undefined)
    return { process: caller, terminal: starts ? terminalOf(undefined, () => undefined) : undefined };
  const { pid, started } = window;
  return {
    process: { ...caller, pid, started, isClient: true },
    terminal: terminalOf(window, (name) => variableOf(pid, name)),
  };
}

function terminalOf(own: OwnTerminal | undefined, variable: (name: string) => string | undefined) {
  return {
    tty: own?.tty ?? null,
    program: storedWord(variable('TERM_PROGRAM')) ?? null,
    kittySocket: storedId(variable('KITTY_LISTEN_ON')) ?? null,
    pid: own?.pid ?? null,
    started: own?.started ?? null,
  };
}

export interface HookLine {
  hook: string;
  session: string | null;
  agent?: string;
  tool?: string;
  ok: boolean;
  /** Time since the process started, in ms. */
  ms: number;
  /** The error's kind and system code, without its message. */
  error?: string;
}

const LOG_ROTATE_BYTES = 4 * 1024 * 1024;

/** Appends a line to `observability/hooks.jsonl`. */
export function logHook(deps: { clock: Clock; path: string }, line: HookLine): void {
  const nowMs = deps.clock.now();
  appendLog(deps.path, JSON.stringify({ ts: toIso(nowMs), ...line }), {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs,
  });
}
