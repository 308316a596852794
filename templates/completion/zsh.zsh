#compdef steward
_steward() {
  local at='' next asks=''
  local -a offered flags
  integer i anything=0
  for ((i = 2; i < CURRENT; i++)); do
    next="${at:+$at }${words[i]}"
    case "$next" in
      (@KNOWN@) at="$next" ;;
    esac
  done
  case "$at" in
@PLACES@
  esac
  if [[ -n $asks && ${words[CURRENT - 1]} == ${at##* } && $PREFIX != -* ]]; then
    offered=(${${(f)"$(steward completion words $asks 2>/dev/null)"}/$'\t'/:})
  fi
  case "$at ${words[CURRENT - 1]}" in
@VALUES@
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
