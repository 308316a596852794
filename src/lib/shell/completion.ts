import type { Command } from '@oclif/core/command';

import { filled, readTemplate } from '../platform/files/template';
import { forFish } from '../platform/process/spawn';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What `steward completion words` prints while a user completes an argument. */
export const WORD_KINDS = ['sessions', 'issues', 'reminders', 'rows', 'questions', 'ended'] as const;
export type WordKind = (typeof WORD_KINDS)[number];

export interface OfferedWord {
  word: string;
  about: string;
}

/** The completions offered after a partial command. */
export type Completions = ReturnType<typeof completionPlaces>[number];

type Known = Pick<Command.Cached, 'id' | 'hidden' | 'summary' | 'flags' | 'args'>;

/** The names of each shell's templates. */
export const TEMPLATES = { bash: 'bash.sh', zsh: 'zsh.zsh', fish: 'fish.fish' } as const;

/**
 * Returns the completion script for bash 4 and later, zsh (for a folder in $fpath, or sourced after compinit), or
 * fish 3 and later.
 * @param root the folder with steward's package.json
 */
export function completionScript(root: string, shell: Shell, places: readonly Completions[]): string {
  const quoted = shell === 'fish' ? forFish : quote;
  const known = places.filter(({ at }) => at !== '').map(({ at }) => quoted(at));
  return filled(readTemplate(root, `completion/${TEMPLATES[shell]}`), {
    KNOWN: known.join(shell === 'fish' ? ' ' : '|'),
    PLACES: places.flatMap(PLACE_LINES[shell]).join('\n'),
    VALUES: shell === 'fish' ? '' : valueCases(places, VALUE_CASES[shell]),
  });
}

/**
 * Returns the completions after each command, sorted, without hidden commands and flags. `keys` are the
 * configuration keys.
 */
export function completionPlaces(
  commands: readonly Known[],
  topics: readonly { name: string; description?: string | undefined }[],
  keys: readonly string[],
) {
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
      /** The command so far, such as `sense` or `sense today`; empty at the start. */
      at: id.replaceAll(':', ' '),
      words: next.sort().map((other) => ({ word: other.slice(start.length), about: about.get(other) ?? '' })),
      flags: [
        ...flagsOf(command),
        { name: 'help', char: 'h', about: 'Show help', takesValue: false, values: [] },
      ],
      /** Values of the first argument. Empty if the argument allows any value, such as a file. */
      values: valuesOf(command, keys),
      /** What the first argument names, if it is a session, an issue or a row of the inbox. */
      asks: wordKindOf(command),
      isCommand: command !== undefined,
    };
  });
}

function valuesOf(command: Known | undefined, keys: readonly string[]): string[] {
  const [first] = Object.values(command?.args ?? {});
  const isKey = command?.id.startsWith('config:') === true && first?.name === 'key';
  return isKey ? [...keys] : (first?.options?.slice() ?? []);
}

/** The rows that a command can take: what can be answered, what you can end, and any. */
const ROWS: Readonly<Record<string, WordKind>> = {
  answer: 'questions',
  'inbox:done': 'ended',
  'inbox:snooze': 'rows',
};

function wordKindOf(command: Known | undefined): WordKind | undefined {
  if (command === undefined) return undefined;
  const [first] = Object.keys(command.args);
  const isSession = command.id === 'go' || command.id.startsWith('sessions:');
  if (isSession && first === 'session') return 'sessions';
  if (first === 'row') return ROWS[command.id];
  if (!command.id.startsWith('work:') || first !== 'number') return undefined;
  return command.id === 'work:snooze' ? 'reminders' : 'issues';
}

function flagsOf(command: Known | undefined) {
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

/** Returns the ids of a command's parents and the command itself. For `a:b`, returns `a` and `a:b`. */
function prefixes(id: string): string[] {
  const words = id.split(':');
  return words.map((_, index) => words.slice(0, index + 1).join(':'));
}

function firstLine(text: string | undefined): string {
  return text?.split('\n')[0] ?? '';
}

/** Quotes a word for POSIX shells, zsh and bash. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a line for each flag that takes a value. */
function valueCases(places: readonly Completions[], line: (at: string, values: readonly string[]) => string) {
  return places
    .flatMap(({ at, flags }) =>
      flags
        .filter(({ takesValue }) => takesValue)
        .map(({ name, values }) => line(quote(`${at} --${name}`), values)),
    )
    .join('\n');
}

function asked(asks: WordKind | undefined): string {
  return asks === undefined ? '' : ` asks=${asks}`;
}

function bashPlace({ at, words, flags, values, asks }: Completions): string {
  const offered = [...words.map(({ word }) => word), ...values].join(' ');
  const dashed = flags.map(({ name }) => `--${name}`).join(' ');
  return `    ${quote(at)}) words=${quote(offered)} flags=${quote(dashed)}${asked(asks)} ;;`;
}

function zshPlace({ at, words, flags, values, asks, isCommand }: Completions): string {
  const described = (word: string, about: string): string => quote(`${word.replaceAll(':', '\\:')}:${about}`);
  const offered = [...words.map(({ word, about }) => described(word, about)), ...values.map(quote)];
  const dashed = flags.map(({ name, about }) => described(`--${name}`, about));
  const files = isCommand && values.length === 0 && asks === undefined ? ' anything=1' : '';
  return `    (${quote(at)}) offered=(${offered.join(' ')}) flags=(${dashed.join(' ')})${files}${asked(asks)} ;;`;
}

const VALUE_CASES = {
  bash: (at: string, values: readonly string[]) => `    ${at}) words=${quote(values.join(' '))} flags='' ;;`,
  zsh: (at: string, values: readonly string[]) =>
    `    (${at}) offered=(${values.map(quote).join(' ')}) flags=() anything=1 ;;`,
};

function fishLines({ at, words, flags, values, asks, isCommand }: Completions): string[] {
  const here = `complete -c steward -n ${forFish(`__steward_at ${forFish(at)}`)}`;
  const takes = ({ takesValue, values: known }: Completions['flags'][number]): string => {
    if (!takesValue) return '';
    return known.length === 0 ? ' -r' : ` -x -a ${forFish(known.join(' '))}`;
  };
  return [
    // Disable file completion unless an argument may be a file.
    ...(isCommand && values.length === 0 && asks === undefined ? [] : [`${here} -f`]),
    ...words.map(({ word, about }) => `${here} -f -a ${forFish(word)} -d ${forFish(about)}`),
    ...values.map((value) => `${here} -f -a ${forFish(value)}`),
    ...(asks === undefined
      ? []
      : [
          `complete -c steward -n ${forFish(`__steward_first ${forFish(at)}`)} -f -a '(steward completion words ${asks} 2>/dev/null)'`,
        ]),
    ...flags.map((flag) => {
      const short = flag.char === undefined ? '' : ` -s ${flag.char}`;
      return `${here} -l ${flag.name}${short}${takes(flag)} -d ${forFish(flag.about)}`;
    }),
  ];
}

const PLACE_LINES = { bash: bashPlace, zsh: zshPlace, fish: fishLines };
