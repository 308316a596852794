import { isUtf8 } from 'node:buffer';

import type { NotifyContext } from '../app/notify';
import { StewardError } from '../errors';
import type { Accepted } from '../notify/accept';
import { deliverWaiting } from '../notify/deliver';
import {
  type ChannelResult,
  type HistoryEntry,
  awaitAnswers,
  isAnswered,
  whyUndelivered,
} from '../notify/history';
import { bodyOf, offer, type SendFlags } from '../notify/send';
import { answersText } from '../notify/view';
import { processHost } from '../platform/files/paths';
import { readPipedStdin } from '../platform/process/stdin';
import type { Terminal } from '../platform/terminal/stdio';
import { phaseWords } from '../sessions/phases';

/** The output of `notify send --json`. `channels` is only set with `--wait`. */
export interface SentNotification extends Accepted {
  channels?: ChannelResult[];
}

const MAX_STDIN_BYTES = 64 * 1024;
/** How long `--wait` waits, in ms. Longer than any delivery attempt takes. */
const WAIT_MS = 60_000;
const POLL_MS = 1_000;
const LOOP = { hint: 'It would run again for each one. Use the event that causes the notification.' };
/** How long to wait on a terminal for the first delivery results, in ms. */
const FIRST_RESULTS_MS = 300;

/**
 * Sends through the daemon, or through a detached process if no daemon is running. With `strict`, throws
 * `unavailable` if a channel didn't accept the notification.
 */
export async function sendFromTerminal(
  notify: NotifyContext,
  given: string | undefined,
  flags: SendFlags,
  terminal: Terminal,
  say: (text: string) => void,
): Promise<{ sent: SentNotification; shown: string }> {
  const { deps } = notify;
  if (processHost().env['STEWARD_EVENT'] === 'notification')
    throw new StewardError('conflict', 'A program that runs on notifications cannot send any.', LOOP);
  const body = bodyOf(await messageOf(given), flags);
  const { accepted, isOurs, note } = await offer(notify, body, flags.unanswered);
  if (note !== undefined) say(note);
  if (flags.phase !== undefined) say(phaseWords(flags.phase, flags.slug, accepted.phase));
  const textOf = (entry: HistoryEntry): string =>
    answersText(entry, { ...terminal, zone: deps.settings().zone, nowMs: deps.clock.now() });
  if (!flags.wait && !flags.strict) {
    if (isOurs) notify.deliverLater();
    const entry = await awaitAnswers(deps, accepted.id, terminal.isTTY ? FIRST_RESULTS_MS : 0);
    if (entry !== undefined && terminal.isTTY) return { sent: accepted, shown: textOf(entry) };
    if (entry?.duplicateOf === null && entry.channels.every(({ result }) => result === 'skipped'))
      say('Not delivered; `steward notify history` says why.');
    return { sent: accepted, shown: accepted.id };
  }
  const entry = await answersTo(deps, accepted.id, isOurs);
  if (entry === undefined) {
    throw new StewardError('unavailable', `No result: notification ${accepted.id} is not in the log.`, {
      hint: 'Check the disk and `steward notify history`.',
    });
  }
  if (isOurs && entry.channels.some(({ result }) => result === 'waiting')) notify.deliverLater();
  const problem = flags.strict ? whyUndelivered(entry) : undefined;
  if (problem !== undefined) {
    throw new StewardError('unavailable', `Not fully delivered: ${problem}`, {
      hint: `Run \`steward notify test\` to see the fix, then \`steward notify retry ${accepted.id}\`.`,
    });
  }
  return { sent: { ...accepted, channels: entry.channels }, shown: textOf(entry) };
}

/** Waits for the first delivery results. Without a daemon, this process delivers the notification itself. */
async function answersTo(deps: NotifyContext['deps'], id: string, isOurs: boolean) {
  const endMs = deps.clock.monotonic() + WAIT_MS;
  for (;;) {
    const restMs = Math.max(0, endMs - deps.clock.monotonic());
    if (isOurs) await deliverWaiting(deps, { patienceMs: 0, longestMs: restMs });
    const entry = await awaitAnswers(deps, id, isOurs ? Math.min(restMs, POLL_MS) : restMs);
    if ((entry !== undefined && isAnswered(entry)) || restMs === 0) return entry;
  }
}

async function messageOf(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  const piped = await readPipedStdin(MAX_STDIN_BYTES);
  if (piped === undefined || piped.bytes.length === 0) {
    throw new StewardError('usage', 'No message given.', {
      hint: 'Pass a message as an argument, or pipe it in: echo Done | steward notify send',
    });
  }
  if (piped.cut) {
    throw new StewardError('usage', 'The message has more than 4,000 characters.', {
      hint: 'Pipe in a shorter text, such as the last line of a log.',
    });
  }
  if (!isUtf8(piped.bytes)) {
    throw new StewardError('usage', 'stdin is not UTF-8 text.', { hint: 'Pipe in text.' });
  }
  return piped.bytes.toString('utf8');
}
