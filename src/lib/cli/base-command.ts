import { custom } from '@oclif/core/args';
import { Command } from '@oclif/core/command';
import { boolean, integer, string } from '@oclif/core/flags';
import type { Arg } from '@oclif/core/interfaces';

import { StewardError } from '../errors';
import { JOB_VARIABLE } from '../platform/process/own-process';
import { processHost } from '../platform/files/paths';
import { foldFor } from '../platform/terminal/fold';
import { terminalOf, writeErr, writeStdout, type Terminal } from '../platform/terminal/stdio';
import { createContext, zonedNow, type Context } from '../app/context';
import type { Period } from '../platform/time/period';
import { toJson, toJsonLine } from '../platform/terminal/error-report';
import { flagsOf } from './resolve';

export { boolean, integer, string as text } from '@oclif/core/flags';

/** The flag that names a period. `readPeriod` describes what it takes. */
export function of(description: string) {
  return string(periodFlag(description));
}

/** The flag that names a period, with a default. */
export function ofOr(fallback: string, description: string) {
  return string({ ...periodFlag(description), default: fallback });
}

function periodFlag(description: string) {
  const examples = 'such as friday, "last week", October or A..B';
  return { description: `${description}, ${examples}.`, helpValue: 'PERIOD' };
}

export const limit = (description: string, fallback: number, max = 10_000) =>
  integer({ description, default: fallback, min: 1, max, helpValue: 'N' });

export const repo = string({
  description: 'Only this repository (name, or a path in it).',
  helpValue: 'NAME',
});

export const dryRun = (what = 'Only show what would be done.') =>
  boolean({ description: what, default: false });

export const machine = string({
  description: 'Only this machine (name, start of its id, or "this").',
  helpValue: 'NAME',
});

export const port = integer({
  description: 'Port of the daemon; 0 picks a free one (default: daemon.port).',
  min: 0,
  max: 65_535,
  helpValue: 'N',
});

export const reportFlags = {
  repo,
  reminders: boolean({ description: 'Include your reminders.', default: false }),
  evidence: boolean({ description: 'Fetch the closing comments of issues.' }),
  machine,
};

/** A flag that may be given several times, each time with one value. */
export function repeatable(description: string, helpValue: string, helpGroup = '') {
  return string({ description, helpValue, helpGroup, multiple: true, multipleNonGreedy: true });
}

/** A text argument. Unlike oclif's type, this type doesn't read stdin if the argument is missing. */
export const word = custom<string>({ ignoreStdin: true, parse: (text) => Promise.resolve(text) });

export const session = word({
  description:
    'Session, by its number in "steward sessions" or by part of its repository, branch, name or slug.',
  required: true,
});

const numberArgument = custom<number>({
  ignoreStdin: true,
  description: 'Issue number.',
  name: 'NUMBER',
  parse: (text) => {
    const digits = /^#?([1-9]\d{0,8})$/.exec(text.trim())?.[1];
    if (digits !== undefined) return Promise.resolve(Number(digits));
    throw new StewardError('usage', `${JSON.stringify(text)} is not an issue number.`, {
      hint: 'Use a number that `steward work board` shows, such as 12.',
    });
  },
});

/** Defines an argument for an issue number: `12` or `#12`. */
export function issueNumber(): Arg<number> {
  return numberArgument({ required: true });
}

/**
 * Base class for all commands. `run` prints a result as text and also returns the result. With `--json`, only
 * the returned value is printed.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = {
    json: boolean({
      description: 'Print one JSON document.',
      helpGroup: 'GLOBAL',
    }),
    debug: boolean({ description: 'Show the stack trace of an error.', helpGroup: 'GLOBAL' }),
  };

  /** Whether the command needs the list of all commands. Set for help and completion. */
  static knowsAll = false;

  /** Related commands to list in the help, such as `sense today`. */
  static related: readonly string[] = [];

  #context: Context | undefined;

  /** Runs the command. Returns the document for `--json`, or undefined if the command prints documents itself. */
  abstract override run(): Promise<unknown>;

  /** Runs the command and, with `--json`, prints its value. */
  async execute(): Promise<void> {
    if (!(await this.mayRun())) return;
    // A command without arguments and flags of its own has nothing to read from them.
    const { args, flags } = this.ctor;
    if (Object.keys({ ...args, ...flags }).length === 0) await this.parse();
    const value = await this.run();
    if (!this.parsed) throw new StewardError('internal', `${String(this.id)} did not parse its arguments.`);
    if (this.json && value !== undefined) writeStdout(toJson(value));
    await this.warnOfOwner();
  }

  /** Warns once if another machine owns the user area, except in scheduled runs. */
  private async warnOfOwner(): Promise<void> {
    if (this.#context === undefined || processHost().env[JOB_VARIABLE] !== undefined) return;
    const { takeNotice } = await import('../platform/files/area-owner');
    const { root, host } = this.#context.area;
    const notice = takeNotice(root, host);
    if (notice !== '') this.say(notice);
  }

  /** Returns false if a scheduler started this run for a job that has since been uninstalled. */
  private async mayRun(): Promise<boolean> {
    if (processHost().env[JOB_VARIABLE] === undefined) return true;
    const { beginScheduled } = await import('../schedule/running');
    return beginScheduled(this.context, processHost().env);
  }

  protected get context(): Context {
    this.#context ??= createContext(this.config.root);
    return this.#context;
  }

  /** Parses a period given in words, in the configured time zone. */
  protected async period(words: string): Promise<Period> {
    const { readPeriod } = await import('../platform/time/period');
    return readPeriod(words, await zonedNow(this.context));
  }

  /** Parses a period given in words that must end today. */
  protected async latest(words: string): Promise<Period> {
    const { readLatest } = await import('../platform/time/period');
    return readLatest(words, await zonedNow(this.context));
  }

  protected get json(): boolean {
    return flagsOf(this.argv).includes('--json');
  }

  protected get terminal(): Terminal {
    return terminalOf(process.stdout);
  }

  /** Prints text, wrapped to the terminal's width. Prints nothing with `--json`. */
  protected print(text: () => string): void {
    this.printUnfolded(() => foldFor('stdout', text()));
  }

  /** Prints text that must not be wrapped, such as a script or a value. */
  protected printUnfolded(text: () => string): void {
    if (this.json) return;
    const lines = text();
    writeStdout(lines.endsWith('\n') ? lines : `${lines}\n`);
  }

  protected show<T>(value: T, text: () => string): T {
    this.print(text);
    return value;
  }

  /** Opens a URL in the browser; prints it instead if `isPrinted` is set or no browser opens. */
  protected async openUrl(url: string, isPrinted: boolean): Promise<boolean> {
    const { openInBrowser } = await import('../platform/desktop/browser');
    const problem = isPrinted ? undefined : await openInBrowser(url);
    if (problem !== undefined) this.say(`${problem} Open this address yourself:`);
    const isOpened = !isPrinted && problem === undefined;
    this.printUnfolded(() => (isOpened ? 'Opened the page in the browser.' : url));
    return isOpened;
  }

  /** Says that a list was cut at its limit. */
  protected sayIfCut(found: readonly unknown[], limit: number): void {
    if (found.length > limit) this.say(`The list is cut at ${limit}; use --limit for more.`);
  }

  /** Prints a JSON document with `--json`, for a command whose `run` returns undefined. */
  protected printDocument(value: unknown): void {
    if (this.json) writeStdout(toJson(value));
  }

  /** Prints one line of a JSON stream with `--json`. */
  protected printLine(value: unknown): void {
    if (this.json) writeStdout(toJsonLine(value));
  }

  /** Writes progress and next steps to stderr. */
  protected readonly say = (text: string): void => {
    writeErr(`${foldFor('stderr', text)}\n`);
  };
}
