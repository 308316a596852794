import type { Command } from '@oclif/core/command';

/** What a shell offers after some words. */
export interface Place {
  /** The words so far, with spaces: `` or `sense` or `sense today`. */
  at: string;
  words: { word: string; about: string }[];
  flags: { name: string; char: string | undefined; about: string; takesValue: boolean; values: string[] }[];
  /** Values of the first argument; empty: anything, such as a file. */
  values: string[];
  isCommand: boolean;
}

type Known = Pick<Command.Cached, 'id' | 'hidden' | 'summary' | 'flags' | 'args'>;

/**
 * Every place where a shell can complete, in the order of the words. Hidden commands and flags are left out.
 *
 * @param keys of the configuration, for the commands that take one
 */
export function completionPlaces(
  commands: readonly Known[],
  topics: readonly { name: string; description?: string | undefined }[],
  keys: readonly string[],
): Place[] {
  const visible = commands.filter(({ hidden }) => hidden !== true);
  const about = new Map(topics.map(({ name, description }) => [name, firstLine(description)]));
  for (const { id, summary } of visible) if (!about.has(id)) about.set(id, firstLine(summary));
  const ids = new Set(visible.flatMap(({ id }) => prefixes(id)));
  return ['', ...[...ids].sort()].map((id) => {
    const start = id === '' ? '' : `${id}:`;
    const command = visible.find((candidate) => candidate.id === id);
    const next = [...ids].filter(
      (other) => other.startsWith(start) && other !== '' && !other.slice(start.length).includes(':'),
    );
    return {
      at: id.replaceAll(':', ' '),
      words: next.sort().map((other) => ({ word: other.slice(start.length), about: about.get(other) ?? '' })),
      flags: [
        ...flagsOf(command),
        { name: 'help', char: 'h', about: 'Show help.', takesValue: false, values: [] },
      ],
      values: valuesOf(command, keys),
      isCommand: command !== undefined,
    };
  });
}

function valuesOf(command: Known | undefined, keys: readonly string[]): string[] {
  const [first] = Object.values(command?.args ?? {});
  const isKey = command?.id.startsWith('config:') === true && first?.name === 'key';
  return isKey ? [...keys] : (first?.options?.slice() ?? []);
}

function flagsOf(command: Known | undefined): Place['flags'] {
  return Object.entries(command?.flags ?? {})
    .filter(([, flag]) => flag.hidden !== true)
    .map(([name, flag]) => ({
      name,
      char: flag.char,
      about: firstLine(flag.summary ?? flag.description),
      takesValue: flag.type === 'option',
      values: flag.type === 'option' ? (flag.options?.slice() ?? []) : [],
    }));
}

/** `a`, `a:b` of `a:b`. */
function prefixes(id: string): string[] {
  const words = id.split(':');
  return words.map((_, index) => words.slice(0, index + 1).join(':'));
}

function firstLine(text: string | undefined): string {
  return text?.split('\n')[0] ?? '';
}

/** A word for a shell that reads it literally: POSIX quoting, which zsh and bash share. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
