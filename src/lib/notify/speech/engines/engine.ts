import { StewardError } from '../../../errors';
import type { Run, RunOptions } from '../../../platform/process/process';
import type { FindProgram } from '../../../platform/process/spawn';
import type { TakeTurn } from '../../../platform/process/turn';
import { clean } from '../../../platform/terminal/terminal';

export interface SpeechMachine {
  platform: NodeJS.Platform;
  find: FindProgram;
  run: Run;
  /** One process of the machine speaks at a time. */
  takeTurn: TakeTurn;
}

/** A text to speak now. */
export interface SpeechOrder {
  /** One line, transformed. */
  text: string;
  /** The provider's voice id; the system's engines ignore it. */
  voiceId?: string;
  /** The time left for the text, ms. */
  remainingMs: () => number;
  /** Aborted to stop at once. */
  signal: AbortSignal;
}

/** A way to speak a text. A new one is a factory in a file here, and a line in voice.ts. */
export interface SpeechEngine {
  readonly id: string;
  /** Returns whether it may be tried here. Starts nothing. */
  detect(machine: SpeechMachine): boolean;
  /** Returns whether the engine is available but nothing on this machine can play its audio. */
  lacksPlayer?(machine: SpeechMachine): boolean;
  /**
   * Speaks the text, and returns when it was heard. Throws a StewardError. The text goes through a file or stdin, never
   * a command line, which other users can read and where it could become a flag.
   */
  speak(machine: SpeechMachine, order: SpeechOrder): Promise<void>;
}

/** The sound could not be played; the engine worked. */
export class SoundError extends StewardError {}

/** The longest synthesis, so that a hanging engine leaves time for the next one. */
export const SYNTHESIS_MS = 12_000;

export interface StepOptions extends Pick<RunOptions, 'input'> {
  /** Its own time limit. */
  mostMs?: number;
  /** The error if that limit was reached. */
  late?: StewardError;
}

/** Runs a program within the order's time; returns its stderr. */
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
    throw new StewardError('not_found', `${program} is not on the PATH.`, { hint });
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
  const detail = timedOut ? '' : lastWords(stderr);
  const failed = code === null ? `was killed by ${signal ?? 'a signal'}` : `failed with code ${code}`;
  const end = timedOut ? `timed out after ${Math.round(timeoutMs / 1000)} s` : failed;
  throw new StewardError('unavailable', `${program} ${end}${detail === '' ? '' : `: ${detail}`}.`, {
    hint: `Check that ${program} works.`,
  });
}

/** The last line of stderr: the program's own, after those of its libraries. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => clean(line).trim());
  return (lines.findLast((line) => line !== '') ?? '').slice(0, 160).replace(/(?<!\.)\.+$/, '');
}

export function stopped(): StewardError {
  return new StewardError('canceled', 'Stopped.');
}

/** Breaks up `[[…]]`, which are commands for say and espeak-ng. */
export function withoutCommands(text: string): string {
  return text.replace(/\[(?=\[)|\](?=\])/g, '$& ');
}
