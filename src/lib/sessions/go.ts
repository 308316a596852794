import { StewardError } from '../errors';
import { holdsTerminal, type OwnTerminal } from '../platform/process/own-terminal';
import { clean } from '../platform/terminal/terminal';
import type { GoDeps } from './go-deps';
import { focusKitty } from './go-kitty';
import { showInTmux } from './go-tmux';
import { statusOf, type Session, type SessionsState } from './session';
import { orderOfSessions } from './view';

/** Where a person was brought. */
export interface Went {
  slug: string;
  via: 'tmux' | 'kitty';
  tty: string;
  /** The pane or the window in the words of its program: `%3`, `7`. */
  target: string;
}

/**
 * Brings the tmux pane or the kitty window of a session to the front: of the N-th of `steward sessions` or of a slug,
 * else of the session that waits longest. The terminal is the one that the session began on, and is looked at again
 * before anything is done (decisions.md 9). Where it cannot be done, `unavailable` says why.
 */
export async function goToSession(deps: GoDeps, state: SessionsState, wanted?: string): Promise<Went> {
  const sessions = liveInOrder(state, deps.nowMs);
  const session = wanted === undefined ? longestWaiting(sessions, deps.nowMs) : chosen(sessions, wanted);
  const terminal = terminalOf(session, deps.machineId);
  const pane = await showInTmux(deps, terminal);
  if (pane !== undefined) return { slug: session.slug, via: 'tmux', tty: terminal.tty, target: pane };
  const socket = session.terminal?.kittySocket ?? undefined;
  const window = await focusKitty(deps, terminal.pid, socket);
  if (window !== undefined) return { slug: session.slug, via: 'kitty', tty: terminal.tty, target: window };
  throw new StewardError(
    'unavailable',
    `${session.slug} runs on ${terminal.tty}, which is no pane of tmux and no window of a kitty that can be asked.`,
    {
      hint: 'tmux needs no setting. kitty needs allow_remote_control socket-only and listen_on unix:@kitty in kitty.conf, before the session begins.',
    },
  );
}

/** What `steward sessions` shows, in its order. */
function liveInOrder(state: SessionsState, nowMs: number): Session[] {
  const live = Object.values(state.sessions).filter((session) =>
    ['waiting', 'working'].includes(statusOf(session, nowMs)),
  );
  if (live.length > 0) return live.sort(orderOfSessions(nowMs));
  throw new StewardError('not_found', 'No session runs now.', {
    hint: 'Sessions are reported by the hooks of your assistant: steward hooks install',
  });
}

function longestWaiting(sessions: readonly Session[], nowMs: number): Session {
  const since = (session: Session): string => session.waitingSince ?? session.updatedAt;
  const [first] = sessions
    .filter((session) => statusOf(session, nowMs) === 'waiting')
    .sort((a, b) => Date.parse(since(a)) - Date.parse(since(b)));
  if (first !== undefined) return first;
  throw new StewardError('not_found', 'No session waits for you.', { hint: listOf(sessions) });
}

function chosen(sessions: readonly Session[], wanted: string): Session {
  const found = /^\d+$/.test(wanted)
    ? sessions.slice(Number(wanted) - 1, Number(wanted)).slice(0, Number(wanted) > 0 ? 1 : 0)
    : sessions.filter(({ slug }) => slug === wanted || slug.startsWith(wanted));
  const only = found.find(({ slug }) => slug === wanted) ?? found[0];
  if (only !== undefined && (found.length === 1 || only.slug === wanted)) return only;
  const said = found.length === 0 ? 'No session that runs is' : `${found.length} sessions begin with`;
  throw new StewardError(found.length === 0 ? 'not_found' : 'usage', `${said} ${clean(wanted)}.`, {
    hint: listOf(sessions),
  });
}

const MAX_LISTED = 10;

/** The sessions as one would name them next. */
function listOf(sessions: readonly Session[]): string {
  const lines = sessions.slice(0, MAX_LISTED).map(({ slug }, index) => `steward go ${index + 1}    ${slug}`);
  const rest = sessions.length - MAX_LISTED;
  return [...lines, ...(rest > 0 ? [`${rest} more: steward sessions`] : [])].join('\n');
}

function terminalOf(session: Session, machineId: string): OwnTerminal {
  const { slug, machine, terminal } = session;
  if (machine !== null && machine !== machineId) {
    throw new StewardError('unavailable', `${slug} runs on another machine.`, {
      hint: 'Run "steward go" there.',
    });
  }
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') {
    throw new StewardError('unavailable', `In which terminal ${slug} runs is not known.`, {
      hint: 'Linux tells it when a session begins; other systems do not, and editors have none.',
    });
  }
  if (holdsTerminal({ tty, pid, started })) return { tty, pid, started };
  throw new StewardError('unavailable', `${slug} has left ${tty}: what ran there has ended.`, {
    hint: 'A session that was closed without a word is shown for 12 hours; "steward sessions" lists them.',
  });
}
