import { forFish } from '../../platform/process/shell-word';
import type { Place } from './tree';

/** A completion script for fish 3 and newer. */
export function fishScript(places: readonly Place[]): string {
  const known = places.filter(({ at }) => at !== '').map(({ at }) => forFish(at));
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
  const here = `complete -c steward -n ${forFish(`__steward_at ${forFish(at)}`)}`;
  return [
    // Only a command can have a file as its argument.
    ...(isCommand && values.length === 0 ? [] : [`${here} -f`]),
    ...words.map(({ word, about }) => `${here} -f -a ${forFish(word)} -d ${forFish(about)}`),
    ...values.map((value) => `${here} -f -a ${forFish(value)}`),
    ...flags.map(
      (flag) => `${here} -l ${flag.name}${short(flag.char)}${takes(flag)} -d ${forFish(flag.about)}`,
    ),
  ];
}

function short(char: string | undefined): string {
  return char === undefined ? '' : ` -s ${char}`;
}

function takes({ takesValue, values }: Place['flags'][number]): string {
  if (!takesValue) return '';
  return values.length === 0 ? ' -r' : ` -x -a ${forFish(values.join(' '))}`;
}
