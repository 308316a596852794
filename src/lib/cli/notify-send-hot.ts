import { userArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { Accepted } from '../notify/accept';
import { EVENT_NAMES, SOURCES } from '../notify/events';
import { newId } from '../notify/outbox';
import { processHost } from '../platform/files/paths';
import { systemClock } from '../platform/time/clock';
import { askLocalNow, type LocalAnswer, type LocalRequest } from '../platform/net/local-http';
import { foldFor } from '../platform/terminal/fold';
import { isOnTerminal, writeErr, writeOut } from '../platform/terminal/stdio';
import { askAt, cachedSocket } from '../daemon/socket';
import { toJson } from '../platform/terminal/error-report';
import { bodyOf, type SendFlags } from '../notify/send';

/**
 * Runs `steward notify send MESSAGE` with one request to the daemon. Returns undefined if the full command
 * must run, for example on a terminal or with `--wait`.
 */
export async function runHot(argv: readonly string[]): Promise<number | undefined | readonly string[]> {
  const call = callOf(argv);
  // The full command refuses a program that runs on notifications.
  if (call === undefined || (isOnTerminal() && !call.json) || processHost().env['STEWARD_EVENT'])
    return undefined;
  const id = newId(systemClock());
  try {
    const socket = cachedSocket(userArea());
    if (socket === undefined) return undefined;
    const accepted = await askAt<Accepted>(ask, socket, {
      method: 'POST',
      path: '/notify',
      body: { ...call.body, id },
    });
    if (accepted === undefined) return undefined;
    const { phase, slug } = call.body;
    if (typeof phase === 'string' && !call.json) {
      const { phaseWords } = await import('../sessions/phases');
      const words = phaseWords(phase, slug as string | undefined, accepted.phase);
      writeErr(`${foldFor('stderr', words)}\n`);
    }
    writeOut(call.json ? toJson(accepted) : `${accepted.id}\n`);
    return 0;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'unavailable') return [...argv, '--unanswered', id];
    const { reportError } = await import('../platform/terminal/error-report');
    const { text, exitCode } = reportError(error, { json: call.json, debug: false });
    writeErr(text);
    return exitCode;
  }
}

/** Blocks until the daemon responds, because the process has nothing else to do. */
async function ask(request: LocalRequest): Promise<LocalAnswer | undefined> {
  return askLocalNow(request) ?? (await import('../platform/net/local-http')).askLocal(request);
}

const TEXTS = ['title', 'voice-id', 'phase', 'slug', 'duration', 'dedupe', 'url'] as const;

/** Parses the arguments. Returns undefined for an unexpected argument, which the full command reports. */
function callOf(argv: readonly string[]) {
  const flags: SendFlags = { event: 'taskComplete', source: 'da', voice: true, wait: false, strict: false };
  let message: string | undefined;
  let json = false;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] as string;
    if (word === '--json') json = true;
    else if (word === '--no-voice') flags.voice = false;
    else if (!word.startsWith('-')) {
      if (message !== undefined) return undefined;
      message = word;
    } else {
      const at = word.indexOf('=');
      const value = at === -1 ? argv[(index += 1)] : word.slice(at + 1);
      if (value === undefined || value.startsWith('-') || value === '') return undefined;
      if (!isSet(flags, at === -1 ? word : word.slice(0, at), value)) return undefined;
    }
  }
  if (message === undefined) return undefined;
  try {
    return { body: bodyOf(message, flags), json };
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'usage') return undefined;
    throw error;
  }
}

function isSet(flags: SendFlags, flag: string, value: string): boolean {
  const text = TEXTS.find((name) => flag === `--${name}`);
  if (text !== undefined) {
    if (flags[text] !== undefined) return false;
    flags[text] = value;
  } else if (flag === '--event' && (EVENT_NAMES as readonly string[]).includes(value)) flags.event = value;
  else if (flag === '--source' && (SOURCES as readonly string[]).includes(value)) flags.source = value;
  else if (flag === '--priority' && /^[1-5]$/.test(value)) flags.priority = Number(value);
  else if (flag === '--tag') flags.tag = [...(flags.tag ?? []), value];
  else return false;
  return true;
}
