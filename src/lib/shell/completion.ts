import type { Command } from '@oclif/core/command';

import { forFish } from '../platform/process/spawn';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What `steward completion words` prints while a user completes an argument. */
export const WORD_KINDS = ['sessions', 'issues', 'reminders'] as const;
export type WordKind = (typeof WORD_KINDS)[number];

export interface OfferedWord {
  word: string;
  about: string;
}

/** The completions offered after a partial command. */
export interface Completions {
  /** The command so far, such as `sense` or `sense today`; empty at the start. */
  at: string;
  words: OfferedWord[];
  flags: { name: string; char: string | undefined; about: string; takesValue: boolean; values: string[] }[];
  /** Values of the first argument. Empty if the argument allows any value, such as a file. */
  values: string[];
  /** What the first argument names, if it is a session or an issue. */
  asks: WordKind | undefined;
  isCommand: boolean;
}

type Known = Pick<Command.Cached, 'id' | 'hidden' | 'summary' | 'flags' | 'args'>;

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, (places: readonly Completions[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/**
 * Returns the completions after each command, sorted, without hidden commands and flags. `keys` are the
 * configuration keys.
 */
export function completionPlaces(
  commands: readonly Known[],
  topics: readonly { name: string; description?: string | undefined }[],
  keys: readonly string[],
): Completions[] {
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
        { name: 'help', char: 'h', about: 'Show help', takesValue: false, values: [] },
      ],
      values: valuesOf(command, keys),
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

function wordKindOf(command: Known | undefined): WordKind | undefined {
  if (command === undefined) return undefined;
  const [first] = Object.keys(command.args);
  const isSession = command.id === 'go' || command.id.startsWith('sessions:');
  if (isSession && first === 'session') return 'sessions';
  if (!command.id.startsWith('work:') || first !== 'number') return undefined;
  return command.id === 'work:snooze' ? 'reminders' : 'issues';
}

function flagsOf(command: Known | undefined): Completions['flags'] {
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

function placesKnown(places: readonly Completions[], quoted: (text: string) => string): string[] {
  return places.filter(({ at }) => at !== '').map(({ at }) => quoted(at));
}

/** Returns a line for each flag that takes a value. */
function valueCases(
  places: readonly Completions[],
  line: (at: string, values: readonly string[]) => string,
): string {
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

/** Returns a script for bash 4 and later. The bash-completion package is optional. */
function bashScript(places: readonly Completions[]): string {
  const place = ({ at, words, flags, values, asks }: Completions): string => {
    const offered = [...words.map(({ word }) => word), ...values].join(' ');
    const dashed = flags.map(({ name }) => `--${name}`).join(' ');
    return `    ${quote(at)}) words=${quote(offered)} flags=${quote(dashed)}${asked(asks)} ;;`;
  };
  return `# bash completion for steward
_steward() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case "$next" in
      ${placesKnown(places, quote).join(' | ')}) at="$next" ;;
    esac
  done
  local words='' flags='' asks='' word
  case "$at" in
${places.map(place).join('\n')}
  esac
  if [[ -n $asks && $prev == "\${at##* }" && $cur != -* ]]; then
    compopt +o default 2>/dev/null
    while IFS=$'\\t' read -r word _; do
      printf -v word %q "$word"
      [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done < <(steward completion words "$asks" 2>/dev/null)
    return 0
  fi
  case "$at $prev" in
${valueCases(places, (at, values) => `    ${at}) words=${quote(values.join(' '))} flags='' ;;`)}
  esac
  [[ $cur == -* ]] && words="$flags"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _steward steward
`;
}

/** Returns a zsh script. Store the script in a folder in $fpath, or source it after compinit. */
function zshScript(places: readonly Completions[]): string {
  const described = (word: string, about: string): string => quote(`${word.replaceAll(':', '\\:')}:${about}`);
  const place = ({ at, words, flags, values, asks, isCommand }: Completions): string => {
    const offered = [...words.map(({ word, about }) => described(word, about)), ...values.map(quote)];
    const dashed = flags.map(({ name, about }) => described(`--${name}`, about));
    const files = isCommand && values.length === 0 && asks === undefined ? ' anything=1' : '';
    return `    (${quote(at)}) offered=(${offered.join(' ')}) flags=(${dashed.join(' ')})${files}${asked(asks)} ;;`;
  };
  const valueCase = (at: string, values: readonly string[]): string =>
    `    (${at}) offered=(${values.map(quote).join(' ')}) flags=() anything=1 ;;`;
  return `#compdef steward
_steward() {
  local at='' next asks=''
  local -a offered flags
  integer i anything=0
  for ((i = 2; i < CURRENT; i++)); do
    next="\${at:+$at }\${words[i]}"
    case "$next" in
      (${placesKnown(places, quote).join('|')}) at="$next" ;;
    esac
  done
  case "$at" in
${places.map(place).join('\n')}
  esac
  if [[ -n $asks && \${words[CURRENT - 1]} == \${at##* } && $PREFIX != -* ]]; then
    offered=(\${\${(f)"$(steward completion words $asks 2>/dev/null)"}/$'\\t'/:})
  fi
  case "$at \${words[CURRENT - 1]}" in
${valueCases(places, valueCase)}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o flag flags
  elif (( $#offered )); then
    _describe value offered
  elif (( anything )); then
    _files
  fi
}
if [[ $funcstack[1] == _steward ]]; then
  _steward "$@"
else
  compdef _steward steward
fi
`;
}

/** Returns a script for fish 3 and later. */
function fishScript(places: readonly Completions[]): string {
  return `# fish completion for steward
function __steward_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join -- ' ' $at $word)
        if contains -- $next ${placesKnown(places, forFish).join(' ')}
            set at $next
        end
    end
    test "$at" = "$argv[1]"
end
function __steward_first
    __steward_at $argv[1]; and string match -q -- "*"(commandline -opc)[-1] $argv[1]
end
complete -c steward -e
${places.flatMap(fishLines).join('\n')}
`;
}

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
