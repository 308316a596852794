import type { Policy } from '../agents/managed/send';
import { follow, type FollowEnd, type FollowInput } from '../agents/managed/follow';
import { sendInterrupt } from '../agents/managed/send';
import { openSessionLog } from '../agents/managed/session-log';
import { endText, eventText, pendingLines } from '../agents/managed/view';
import { StewardError } from '../errors';
import { canAsk } from '../platform/terminal/ask';
import { onInterrupt } from '../platform/process/own-process';
import { standardOutput } from '../platform/terminal/shown-output';
import { type Terminal, writeErr } from '../platform/terminal/stdio';
import { wait } from '../platform/time/wait';
import type { Context } from '../app/context';
import { toJsonLine } from '../platform/terminal/json';
import { answerer } from './managed-ask';
import { withManaged, type ManagedContext } from '../app/managed';

/** The terminal that a session is followed on. */
export interface FollowHost {
  context: Context;
  terminal: Terminal;
  json: boolean;
  say: (text: string) => void;
}

export type FollowOptions = Omit<FollowInput, 'session'> & {
  /** Undefined: nothing is answered, and nobody is asked. */
  policy: Policy | undefined;
  fromStart?: boolean;
  /** Where it is known before `start`: then nothing is started, or sent, while another command shows the session. */
  session?: string | undefined;
};

type Started = Pick<FollowInput, 'session' | 'isIdle' | 'sent'>;

/** So long a second Ctrl-C is waited for. */
const SECOND_PRESS_MS = 2000;

/**
 * Follows the session that `start` gives. Ctrl-C detaches: the session goes on, and a wake goes on showing it. On a
 * terminal a second Ctrl-C within two seconds interrupts the agent.
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
    if (detached.signal.aborted && session !== undefined && canAsk()) {
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
        prices: managed.prices,
        answer,
        say: host.say,
      },
      input,
    );
    if (log.mayRepeat())
      host.say('The run before was killed while it wrote: its last lines may be shown twice.');
    return end;
  } finally {
    log.close();
  }
}

function finish(host: FollowHost, until: FollowOptions['until'], end: FollowEnd): void {
  const { outcome, session, pending } = end;
  host.say(endText(end));
  // Who watches a session sees its end as well: that is no failure of the watching.
  if (outcome.kind === undefined || until === 'session') return;
  const commands = pendingLines(session, pending).join('\n');
  throw new StewardError(outcome.kind, `${outcome.message}.`, {
    hint: commands === '' ? `steward agents managed show ${session} says more.` : `Answer it:\n${commands}`,
  });
}

function detachedError(session: string | undefined): StewardError {
  const words =
    session === undefined ? 'Stopped before the session was known.' : `Detached: session ${session} goes on.`;
  const hint = `Go on with: steward agents managed wake${session === undefined ? '' : ` ${session}`}`;
  return new StewardError('canceled', words, { hint });
}

async function maybeInterrupt(host: FollowHost, session: string, again: Promise<void>): Promise<void> {
  host.say('Detaching. Press Ctrl-C again now to interrupt the agent as well.');
  const second = await Promise.race([again.then(() => true), wait(SECOND_PRESS_MS).then(() => false)]);
  if (!second) return;
  await withManaged(host.context, ({ deps }) => sendInterrupt(deps, session));
  throw new StewardError('canceled', `The agent of ${session} was told to stop.`, {
    hint: `See how it ended: steward agents managed wake ${session}`,
  });
}
