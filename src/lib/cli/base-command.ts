import { custom } from '@oclif/core/args';
import { Command } from '@oclif/core/command';
import { boolean } from '@oclif/core/flags';
import type { Arg } from '@oclif/core/interfaces';

import { StewardError } from '../errors';
import { JOB_VARIABLE } from '../platform/process/own-process';
import { processHost } from '../platform/files/paths';
import { foldFor } from '../platform/terminal/fold';
import { terminalOf, writeErr, writeStdout, type Terminal } from '../platform/terminal/stdio';
import { createContext, type Context } from '../app/context';
import { toJson, toJsonLine } from '../platform/terminal/error-report';
import { flagsOf } from './resolve';

export { boolean, integer, string as text } from '@oclif/core/flags';

/** An argument that is a word; oclif would read stdin for one that is not given. */
export const word = custom<string>({ ignoreStdin: true, parse: (text) => Promise.resolve(text) });

const numberArgument = custom<number>({
  ignoreStdin: true,
  description: 'Its number.',
  name: 'NUMBER',
  parse: (text) => {
    const digits = /^#?([1-9]\d{0,8})$/.exec(text.trim())?.[1];
    if (digits !== undefined) return Promise.resolve(Number(digits));
    throw new StewardError('usage', `${JSON.stringify(text)} is no number of an issue.`, {
      hint: 'Write the number that `steward work board` shows, such as 12.',
    });
  },
});

/** The argument of the commands that are about one issue: `12` or `#12`. */
export function issueNumber(): Arg<number> {
  return numberArgument({ required: true });
}

/**
 * A command of the terminal edge. `run` parses, calls one library function, prints the value with a view
 * through `print`, and returns it; with `--json` nothing is printed and the returned value is the one
 * document on stdout. Errors are thrown: the edge writes them and chooses the exit code.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = {
    json: boolean({
      description: 'Print one JSON document on stdout, and nothing else there.',
      helpGroup: 'GLOBAL',
    }),
    debug: boolean({ description: 'Show the stack of an error.', helpGroup: 'GLOBAL' }),
  };

  /** Does it ask its config for all commands, as help and completion do? */
  static knowsAll = false;

  /** Commands that a reader of the help may want next, with spaces: `sense today`. */
  static related: readonly string[] = [];

  #context: Context | undefined;

  /** The value for `--json`; undefined when the command has written its documents itself (a stream). */
  abstract override run(): Promise<unknown>;

  /** Runs the command and prints the document of `--json`. */
  async execute(): Promise<void> {
    if (!(await this.mayRun())) return;
    const value = await this.run();
    if (!this.parsed) throw new StewardError('internal', `${String(this.id)} did not parse its arguments.`);
    if (this.json && value !== undefined) writeStdout(toJson(value));
  }

  /** What a scheduler starts runs only while it is installed there (schedule/running.ts). */
  private async mayRun(): Promise<boolean> {
    if (processHost().env[JOB_VARIABLE] === undefined) return true;
    const { mayRun } = await import('../app/schedule');
    return mayRun(this.context);
  }

  protected get context(): Context {
    this.#context ??= createContext(this.config.root);
    return this.#context;
  }

  protected get json(): boolean {
    return flagsOf(this.argv).includes('--json');
  }

  protected get terminal(): Terminal {
    return terminalOf(process.stdout);
  }

  /** Writes a text to stdout, folded on a terminal; with `--json` the text is not even made. */
  protected print(text: () => string): void {
    this.printUnfolded(() => foldFor('stdout', text()));
  }

  /** Writes a text that a person or a program takes as it is: a script, a value. */
  protected printUnfolded(text: () => string): void {
    if (this.json) return;
    const lines = text();
    writeStdout(lines.endsWith('\n') ? lines : `${lines}\n`);
  }

  /** Prints the text of a value for a person, and returns the value, which is the document of `--json`. */
  protected show<T>(value: T, text: () => string): T {
    this.print(text);
    return value;
  }

  /** With `--json`: the document of a command whose `run` returns none. */
  protected printDocument(value: unknown): void {
    if (this.json) writeStdout(toJson(value));
  }

  /** With `--json`: one document of a stream, on a line of its own. */
  protected printLine(value: unknown): void {
    if (this.json) writeStdout(toJsonLine(value));
  }

  /** Talk beside the result, on stderr: what was done, what comes next. */
  protected say(text: string): void {
    writeErr(`${foldFor('stderr', text)}\n`);
  }
}
