import { StewardError } from '../../../errors';
import type { Run, RunOptions } from '../../../platform/process/process';
import type { FindProgram } from '../../../platform/process/spawn';
import { clean } from '../../../platform/terminal/terminal';
import type { TakeTurn } from '../../../platform/process/turn';

/** What engines and players need of the machine. */
export interface SpeechMachine {
  platform: NodeJS.Platform;
  find: FindProgram;
  run: Run;
  /** One text at a time is spoken on a machine, whichever process speaks it. */
  takeTurn: TakeTurn;
}

/** One text to be spoken now. */
export interface SpeechOrder {
  /** One line, as the voice is to say it. */
  text: string;
  /** The provider's voice id; engines of the system have voices of their own. */
  voiceId?: string;
  /** What is left of the time that one message may take, ms; asked for again at every step. */
  remainingMs: () => number;
  /** Aborted when it is to stop at once. */
  signal: AbortSignal;
}

/** A way to say a text aloud. To add one: a file here with a factory, and its line in index.ts. */
export interface SpeechEngine {
  readonly id: string;
  /** May it be tried here? Looks, and starts nothing. */
  detect(machine: SpeechMachine): boolean;
  /**
   * Says the text and returns when it was heard. What went wrong is a StewardError. The text goes by a file or
   * by stdin, never by a command line, where other users of the machine read it and shells and flags do.
   */
  speak(machine: SpeechMachine, order: SpeechOrder): Promise<void>;
}

/** The sound was made and could not be heard, which is no engine's fault. */
export class SoundError extends StewardError {}

/** The longest that making the sound of a text may take: what hangs leaves time for the next engine. */
export const SYNTHESIS_MS = 12_000;

export interface StepOptions extends Pick<RunOptions, 'input'> {
  /** It is stopped after this, also where the order has more time left. */
  mostMs?: number;
  /** What is wrong when it was stopped by that, where that is known. */
  late?: StewardError;
}

/**
 * Runs a part of one order: with what is left of its time, and stopped with it.
 *
 * @returns what the program said on stderr
 */
export async function runStep(
  machine: SpeechMachine,
  order: SpeechOrder,
  program: string,
  args: readonly string[],
  options: StepOptions = {},
): Promise<string> {
  const path = machine.find(program);
  if (path === undefined) {
    const hint = `Install ${program}, or add its folder to PATH.`;
    throw new StewardError('not_found', `${program} is not installed or not on the PATH.`, { hint });
  }
  const timeoutMs = Math.max(1, Math.min(order.remainingMs(), options.mostMs ?? Infinity));
  const input = options.input === undefined ? {} : { input: options.input };
  const { code, signal, stderr, timedOut } = await machine.run(path, args, {
    timeoutMs,
    signal: order.signal,
    ...input,
  });
  if (order.signal.aborted) throw stopped();
  if (!timedOut && code === 0) return stderr;
  if (timedOut && options.late !== undefined && timeoutMs === options.mostMs) throw options.late;
  const said = timedOut ? '' : lastWords(stderr);
  const failed = code === null ? `was ended by ${signal ?? 'a signal'}` : `failed with code ${code}`;
  const end = timedOut ? `did not end in ${Math.round(timeoutMs / 1000)} s` : failed;
  throw new StewardError('unavailable', `${program} ${end}${said === '' ? '' : `: ${said}`}.`, {
    hint: `Check that ${program} works on its own.`,
  });
}

/** The last line is the program's own; what libraries have to say comes before it. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => clean(line).trim());
  return (lines.findLast((line) => line !== '') ?? '').slice(0, 160).replace(/(?<!\.)\.+$/, '');
}

export function stopped(): StewardError {
  return new StewardError('canceled', 'It was stopped.');
}

/** `[[…]]` are commands or phonemes to say and espeak-ng: a text from elsewhere gives them none. */
export function withoutCommands(text: string): string {
  return text.replace(/\[(?=\[)|\](?=\])/g, '$& ');
}
