import { quote, type Place } from './tree';

/** A completion script for zsh: for a folder of $fpath, or to be sourced after compinit. */
export function zshScript(places: readonly Place[]): string {
  const known = places.filter(({ at }) => at !== '').map(({ at }) => quote(at));
  return `#compdef steward
_steward() {
  local at='' next
  local -a offered flags
  integer i anything=0
  for ((i = 2; i < CURRENT; i++)); do
    next="\${at:+$at }\${words[i]}"
    case "$next" in
      (${known.join('|')}) at="$next" ;;
    esac
  done
  case "$at" in
${places.map(placeCase).join('\n')}
  esac
  case "$at \${words[CURRENT - 1]}" in
${places.flatMap(valueCases).join('\n')}
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

function placeCase({ at, words, flags, values, isCommand }: Place): string {
  const offered = [...words.map(({ word, about }) => described(word, about)), ...values.map(quote)];
  const dashed = flags.map(({ name, about }) => described(`--${name}`, about));
  const files = isCommand && values.length === 0 ? ' anything=1' : '';
  return `    (${quote(at)}) offered=(${offered.join(' ')}) flags=(${dashed.join(' ')})${files} ;;`;
}

function valueCases({ at, flags }: Place): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(
      ({ name, values }) =>
        `    (${quote(`${at} --${name}`)}) offered=(${values.map(quote).join(' ')}) flags=() anything=1 ;;`,
    );
}

function described(word: string, about: string): string {
  return quote(`${word.replaceAll(':', '\\:')}:${about}`);
}
