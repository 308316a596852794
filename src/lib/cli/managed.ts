import type { SentEvent } from '../agents/managed/event';
import { type FollowInput, follow } from '../agents/managed/follow';
import type { FollowEnd } from '../agents/managed/view';
import { type Policy, answersBy, confirmation, sendInterrupt } from '../agents/managed/send';
import { openSessionLog } from '../agents/managed/session-log';
import { type StartInput, pruneSessions, startSession } from '../agents/managed/sessions';
import type { ToolUse } from '../agents/managed/turn';
import { permissionText, endText, eventText, pendingLines } from '../agents/managed/view';
import type { Context } from '../app/context';
import { type ManagedContext, withManaged } from './managed-client';
import { StewardError } from '../errors';
import { onInterrupt } from '../platform/process/own-process';
import { isInteractive, openPrompt } from '../platform/terminal/ask';
import { toJsonLine } from '../platform/terminal/error-report';
import { foldFor } from '../platform/terminal/fold';
import { standardOutput, type Terminal, writeErr } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { aborted, within } from '../platform/time/wait';
import { text, repeatable } from './base-command';

type FollowOptions = Omit<FollowInput, 'session'> & {
  /** Answers permission requests. If omitted, permission requests stay unanswered. */
  policy: Policy | undefined;
  fromStart?: boolean;
  /**
   * The existing session to follow. If another command is already showing this session, `start` isn't called.
   */
  session?: string | undefined;
};

type Started = Pick<FollowInput, 'session' | 'isIdle' | 'sent'>;

const SECOND_PRESS_MS = 2000;

/**
 * Follows a session. Ctrl-C detaches. On a terminal, a second Ctrl-C within two seconds interrupts the agent.
 */
export async function followHere(
  host: FollowHost,
  options: FollowOptions,
  start: (managed: ManagedContext) => Promise<Started>,
): Promise<void> {
  const detached = new AbortController();
  let session: string | undefined;
  let presses = 0;
  let pressedAgain: () => void = () => undefined;
  const again = new Promise<void>((resolve) => (pressedAgain = resolve));
  const stopListening = onInterrupt(() => {
    presses += 1;
    if (presses === 1) detached.abort(detachedError(session));
    else pressedAgain();
    if (presses > 2) process.exit(130);
  });
  try {
    const end = await withManaged(
      host.context,
      async (managed) => {
        const followed = (found: Started): Promise<FollowEnd> => {
          session = found.session;
          return followOne(host, managed, { ...options, ...found }, detached.signal);
        };
        if (options.session !== undefined)
          return managed.asReader(options.session, async () => followed(await start(managed)));
        const started = await start(managed);
        session = started.session;
        return managed.asReader(started.session, () => followed(started));
      },
      detached.signal,
    );
    finish(host, options.until, end);
  } catch (error) {
    if (detached.signal.aborted && session !== undefined && isInteractive()) {
      await maybeInterrupt(host, session, again);
    }
    throw error;
  } finally {
    stopListening();
  }
}

async function followOne(
  host: FollowHost,
  managed: ManagedContext,
  { policy, fromStart, ...input }: FollowOptions & { session: string },
  signal: AbortSignal,
): Promise<FollowEnd> {
  const { terminal } = host;
  const render = host.json
    ? toJsonLine
    : (event: Parameters<typeof eventText>[0]) => eventText(event, terminal);
  const answer =
    policy === undefined
      ? () => Promise.resolve([])
      : answerer({ policy, columns: terminal.columns, show: writeErr, signal });
  const log = openSessionLog(managed.folder, input.session, { output: standardOutput(), render });
  try {
    if (fromStart === true) log.rewind();
    const end = await follow(
      {
        ...managed.deps,
        log,
        answer,
        say: host.say,
      },
      input,
    );
    if (log.mayRepeat())
      host.say('The previous run was killed while printing; its last lines may appear twice.');
    return end;
  } finally {
    log.close();
  }
}

function finish(host: FollowHost, until: FollowOptions['until'], end: FollowEnd): void {
  const { outcome, session, pending } = end;
  host.say(endText(end));
  if (outcome.kind === undefined || until === 'session') return;
  const commands = pendingLines(session, pending).join('\n');
  throw new StewardError(outcome.kind, `${outcome.message}.`, {
    hint: commands === '' ? `For details: steward agents managed show ${session}` : `To answer:\n${commands}`,
  });
}

function detachedError(session: string | undefined): StewardError {
  const message =
    session === undefined ? 'Stopped before the session started.' : `Detached; session ${session} continues.`;
  const hint = `To resume: steward agents managed wake${session === undefined ? '' : ` ${session}`}`;
  return new StewardError('canceled', message, { hint });
}

async function maybeInterrupt(host: FollowHost, session: string, again: Promise<void>): Promise<void> {
  host.say('Detaching. Press Ctrl-C again to also interrupt the agent.');
  const second = await within(
    SECOND_PRESS_MS,
    again.then(() => true),
    false,
  );
  if (!second) return;
  await withManaged(host.context, ({ deps }) => sendInterrupt(deps, session));
  throw new StewardError('canceled', `Interrupted the agent in session ${session}.`, {
    hint: `To see the result: steward agents managed wake ${session}`,
  });
}

/** Flags that answer permission requests in advance. */
export const answerFlags = {
  allow: repeatable('Allow this tool without asking (name, id or "all").', 'TOOL', 'ANSWER'),
  deny: repeatable('Deny this tool without asking (name, id or "all").', 'TOOL', 'ANSWER'),
};

export const costFlag = text({
  description: 'Interrupt the agent when its cost reaches this amount.',
  helpValue: 'USD',
});

/** Parses `--max-cost`, in USD. */
export function parseCost(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const usd = /^\d{1,7}(?:\.\d+)?$/.test(text) ? Number(text) : 0;
  if (usd > 0) return usd;
  throw new StewardError('usage', `Invalid --max-cost "${clean(text).slice(0, 40)}".`, {
    hint: 'Use an amount in USD above 0, such as 2 or 0.50.',
  });
}

export function policyOf(flags: { allow?: string[] | undefined; deny?: string[] | undefined }): Policy {
  const named = (flag: 'allow' | 'deny'): string[] => (flags[flag] ?? []).map((tool) => given(flag, tool));
  return { allow: named('allow'), deny: named('deny') };
}

/**
 * Returns a flag's value. Throws `usage` if the value is empty, usually because of an unset shell variable.
 */
export function given(flag: string, value: string): string {
  if (value.trim() !== '') return value;
  throw new StewardError('usage', `--${flag} is empty.`, {
    hint: 'Pass a value; a shell variable may be unset.',
  });
}

export function hostOf(context: Context, terminal: Terminal, json: boolean) {
  return {
    context,
    terminal,
    json,
    // With --json, stderr contains only the error document.
    say: (text: string) => {
      if (!json) writeErr(`${foldFor('stderr', text)}\n`);
    },
  };
}

type FollowHost = ReturnType<typeof hostOf>;

/** Warns that a cost limit ignores tokens without a reported cost. */
export function warnOfUncountedTokens(host: FollowHost, maxCost: number | undefined): void {
  if (maxCost !== undefined)
    host.say('--max-cost does not count tokens until the service reports their cost.');
}

interface Asking {
  policy: Policy;
  columns: number;
  show: (text: string) => void;
  /** Aborted on Ctrl-C, which leaves the question unanswered. */
  signal: AbortSignal;
}

/**
 * Returns a function that answers permission requests from the policy or by asking. Enter denies the request,
 * and Ctrl-D stops all further questions.
 */
function answerer(asking: Asking): (pending: readonly ToolUse[]) => Promise<SentEvent[]> {
  let isClosed = !isInteractive();
  return async (pending) => {
    const given = answersBy(asking.policy, pending);
    if (given.length > 0 || isClosed) return given;
    const { answers, ended } = await askOnTerminal(
      asking,
      pending.filter(({ kind }) => kind === 'tool'),
    );
    isClosed = ended;
    return answers;
  };
}

async function askOnTerminal({ columns, show, signal }: Asking, uses: readonly ToolUse[]) {
  const answers: SentEvent[] = [];
  if (uses.length === 0) return { answers, ended: false };
  const questions = openPrompt();
  const withdrawn = aborted(signal);
  try {
    for (const use of uses) {
      const { lines, question } = permissionText(use, columns);
      if (lines !== '') show(`${lines}\n`);
      const allowed = await Promise.race([questions.yes(question, 'no'), withdrawn]);
      signal.throwIfAborted();
      answers.push(confirmation(use.id, allowed ? 'allow' : 'deny'));
    }
    return { answers, ended: false };
  } catch (error) {
    if (!signal.aborted && error instanceof StewardError && error.kind === 'canceled')
      return { answers, ended: true };
    throw error;
  } finally {
    questions.close();
  }
}

/** Days without changes after which the local log of a session is deleted. */
const LOG_DAYS = 90;

/** Starts a session with a message and follows the session until the turn ends. */
export async function runHere(host: FollowHost, input: StartInput, policy: Policy): Promise<void> {
  const { budget } = input;
  await followHere(host, { until: 'turn', policy, maxCost: budget }, async (managed) => {
    warnOfUncountedTokens(host, budget);
    pruneSessions(managed.folder, LOG_DAYS, host.context.clock.now());
    const session = await startSession(managed.deps, input);
    host.say(`Session ${session}`);
    return { session };
  });
}
