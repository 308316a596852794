import type { Place } from './tree';

/** A completion script for fish 3 and newer. */
export function fishScript(places: readonly Place[]): string {
  const known = places.filter(({ at }) => at !== '').map(({ at }) => fishQuote(at));
  return `# fish completion for steward
function __steward_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join -- ' ' $at $word)
        if contains -- $next ${known.join(' ')}
            set at $next
        end
    end
    test "$at" = "$argv[1]"
end
complete -c steward -e
${places.flatMap(placeLines).join('\n')}
`;
}

function placeLines({ at, words, flags, values, isCommand }: Place): string[] {
  const here = `complete -c steward -n ${fishQuote(`__steward_at ${fishQuote(at)}`)}`;
  return [
    // Only a command can have a file as its argument.
    ...(isCommand && values.length === 0 ? [] : [`${here} -f`]),
    ...words.map(({ word, about }) => `${here} -f -a ${fishQuote(word)} -d ${fishQuote(about)}`),
    ...values.map((value) => `${here} -f -a ${fishQuote(value)}`),
    ...flags.map(
      (flag) => `${here} -l ${flag.name}${short(flag.char)}${takes(flag)} -d ${fishQuote(flag.about)}`,
    ),
  ];
}

function short(char: string | undefined): string {
  return char === undefined ? '' : ` -s ${char}`;
}

function takes({ takesValue, values }: Place['flags'][number]): string {
  if (!takesValue) return '';
  return values.length === 0 ? ' -r' : ` -x -a ${fishQuote(values.join(' '))}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
