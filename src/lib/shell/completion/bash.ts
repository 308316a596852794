import { quote, type Place } from './tree';

/** A completion script for bash 4 and newer; without the bash-completion package, too. */
export function bashScript(places: readonly Place[]): string {
  const known = places.filter(({ at }) => at !== '').map(({ at }) => quote(at));
  return `# bash completion for steward
_steward() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case "$next" in
      ${known.join(' | ')}) at="$next" ;;
    esac
  done
  local words='' flags=''
  case "$at" in
${places.map(placeCase).join('\n')}
  esac
  case "$at $prev" in
${places.flatMap(valueCases).join('\n')}
  esac
  [[ $cur == -* ]] && words="$flags"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _steward steward
`;
}

function placeCase({ at, words, flags, values }: Place): string {
  const offered = [...words.map(({ word }) => word), ...values].join(' ');
  const dashed = flags.map(({ name }) => `--${name}`).join(' ');
  return `    ${quote(at)}) words=${quote(offered)} flags=${quote(dashed)} ;;`;
}

/** After a flag that takes a value: its values, or, where any will do, what bash does by default (files). */
function valueCases({ at, flags }: Place): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(
      ({ name, values }) => `    ${quote(`${at} --${name}`)}) words=${quote(values.join(' '))} flags='' ;;`,
    );
}
