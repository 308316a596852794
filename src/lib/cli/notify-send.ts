import { isUtf8 } from 'node:buffer';

import { StewardError } from '../errors';
import type { Accepted } from '../notify/accept';
import { deliverWaiting } from '../notify/deliver';
import {
  type ChannelResult,
  type HistoryEntry,
  awaitAnswers,
  isAnswered,
  whyNotReached,
} from '../notify/history';
import { answersText } from '../notify/view';
import type { Terminal } from '../platform/terminal/stdio';
import { readPipedStdin } from '../platform/process/stdin';
import { bodyOf, offer, type SendFlags } from '../notify/send';
import type { NotifyContext } from '../app/notify';
import { phaseWords } from '../sessions/phases';

/** What `notify send --json` prints; `channels` with `--wait` only. */
export interface Sent extends Accepted {
  channels?: ChannelResult[];
}

const MAX_STDIN_BYTES = 64 * 1024;
/** Longer than any channel takes for an attempt. */
const WAIT_MS = 60_000;
const LOOK_MS = 1_000;

/**
 * Sends through the daemon where one runs, else through the outbox and a process that nobody waits for. With
 * `wait` this process delivers by itself, and hears each channel's first answer; with `strict` one that did not
 * take it is `unavailable`.
 */
export async function sendFromTerminal(
  notify: NotifyContext,
  given: string | undefined,
  flags: SendFlags,
  terminal: Terminal,
  say: (text: string) => void,
): Promise<{ sent: Sent; shown: string }> {
  const body = bodyOf(await messageOf(given), flags);
  const { accepted, isOurs, note } = await offer(notify, body, flags.unanswered);
  if (note !== undefined) say(note);
  if (flags.phase !== undefined) say(phaseWords(flags.phase, flags.slug, accepted.phase));
  if (!flags.wait && !flags.strict) {
    if (isOurs) notify.deliverLater();
    return { sent: accepted, shown: accepted.id };
  }
  const { deps } = notify;
  const entry = await answersTo(deps, accepted.id, isOurs);
  if (entry === undefined) {
    throw new StewardError('unavailable', 'What came of it is not known: the log has nothing of it.', {
      hint: 'Check the disk, and `steward notify history`.',
    });
  }
  // What is to be tried again goes on without this process.
  if (isOurs && entry.channels.some(({ result }) => result === 'waiting')) notify.deliverLater();
  const missed = flags.strict ? whyNotReached(entry) : undefined;
  if (missed !== undefined) {
    throw new StewardError('unavailable', `It was not delivered everywhere: ${missed}`, {
      hint: `\`steward notify test\` says what to do; \`steward notify retry ${accepted.id}\` tries it again.`,
    });
  }
  const options = { ...terminal, zone: deps.settings().zone, nowMs: deps.clock.now() };
  return { sent: { ...accepted, channels: entry.channels }, shown: answersText(entry, options) };
}

/**
 * Waits for the first answers, and delivers meanwhile where no daemon does: another process that delivers may
 * end, or be killed, before it has seen this one.
 */
async function answersTo(
  deps: NotifyContext['deps'],
  id: string,
  isAlone: boolean,
): Promise<HistoryEntry | undefined> {
  const endMs = deps.clock.monotonic() + WAIT_MS;
  for (;;) {
    const leftMs = Math.max(0, endMs - deps.clock.monotonic());
    if (isAlone) await deliverWaiting(deps, { patienceMs: 0, longestMs: leftMs });
    const entry = await awaitAnswers(deps, id, isAlone ? Math.min(leftMs, LOOK_MS) : leftMs);
    if ((entry !== undefined && isAnswered(entry)) || leftMs === 0) return entry;
  }
}

async function messageOf(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  const piped = await readPipedStdin(MAX_STDIN_BYTES);
  if (piped === undefined || piped.bytes.length === 0) {
    throw new StewardError('usage', 'There is no message.', {
      hint: 'Give it as an argument, or pipe it in: echo Done | steward notify send',
    });
  }
  if (piped.cut) {
    throw new StewardError('usage', 'message has more than 4,000 characters.', {
      hint: 'Pipe in a shorter text, such as the last line of a log.',
    });
  }
  if (!isUtf8(piped.bytes)) {
    throw new StewardError('usage', 'What stdin gives is not UTF-8 text.', { hint: 'Pipe in text.' });
  }
  return piped.bytes.toString('utf8');
}
