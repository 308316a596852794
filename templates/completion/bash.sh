# bash completion for steward
_steward() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}" at='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${at:+$at }${COMP_WORDS[i]}"
    case "$next" in
      @KNOWN@) at="$next" ;;
    esac
  done
  local words='' flags='' asks='' word
  case "$at" in
@PLACES@
  esac
  if [[ -n $asks && $prev == "${at##* }" && $cur != -* ]]; then
    compopt +o default 2>/dev/null
    while IFS=$'\t' read -r word _; do
      printf -v word %q "$word"
      [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done < <(steward completion words "$asks" 2>/dev/null)
    return 0
  fi
  case "$at $prev" in
@VALUES@
  esac
  [[ $cur == -* ]] && words="$flags"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _steward steward
