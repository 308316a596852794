import { StewardError } from '../../../errors';
import type { Run, RunOptions } from '../../../platform/process/process';
import type { FindProgram } from '../../../platform/process/spawn';
import type { TakeTurn } from '../../../platform/process/turn';
import { clean } from '../../../platform/terminal/terminal';

export interface SpeechMachine {
  platform: NodeJS.Platform;
  find: FindProgram;
  run: Run;
  /** Ensures that only one process on the machine speaks at a time. */
  takeTurn: TakeTurn;
}

/** The text to speak, with the voice and the timeout. */
export interface SpeechOrder {
  /** A single line, already transformed for speech. */
  text: string;
  /** The provider's voice id. System engines ignore it. */
  voiceId?: string;
  remainingMs: () => number;
  signal: AbortSignal;
}

/** A speech engine. To add one, write a factory in this folder and add a line to voice.ts. */
export interface SpeechEngine {
  readonly id: string;
  /** Returns whether this engine is likely to work on this machine. Doesn't start a program. */
  detect(machine: SpeechMachine): boolean;
  /** Returns true if the engine is installed but no installed program can play its audio. */
  lacksPlayer?(machine: SpeechMachine): boolean;
  /**
   * Speaks the text; resolves when playback ends. Throws a StewardError. Never passes the text as an argument,
   * because other users could read it, and the program could parse it as a flag.
   */
  speak(machine: SpeechMachine, order: SpeechOrder): Promise<void>;
}

/** Thrown if the engine worked but the audio could not be played. */
export class SoundError extends StewardError {}

/** Synthesis timeout, short enough to leave time for the next engine. */
export const SYNTHESIS_MS = 12_000;

interface StepOptions extends Pick<RunOptions, 'input'> {
  mostMs?: number;
  /** The error to throw if the program runs longer than `mostMs`. */
  late?: StewardError;
}

/** Runs a program within the remaining time; returns its stderr. */
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

/** Returns the last line of stderr; earlier lines usually come from libraries. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => clean(line).trim());
  return (lines.findLast((line) => line !== '') ?? '').slice(0, 160).replace(/(?<!\.)\.+$/, '');
}

export function stopped(): StewardError {
  return new StewardError('canceled', 'Stopped.');
}

/** Breaks up `[[…]]`, which `say` and `espeak-ng` would interpret as a command. */
export function withoutCommands(text: string): string {
  return text.replace(/\[(?=\[)|\](?=\])/g, '$& ');
}
