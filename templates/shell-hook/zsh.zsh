# Notifies you when a long command finishes. Add to ~/.zshrc: eval "$(steward shell-hook zsh)"
if [[ -o interactive && -z ${_steward_long_on-} ]] && autoload -Uz add-zsh-hook && zmodload zsh/datetime; then
typeset -g _steward_long_on=1 _steward_long_began='' _steward_long_line=''
@TELL@

# $3 is the command with its aliases expanded.
_steward_long_preexec() {
  _steward_long_began=$EPOCHREALTIME
  _steward_long_line=${3:-$1}
}

_steward_long_precmd() {
  local code=$?
  emulate -L zsh
  local began=$_steward_long_began line=$_steward_long_line limit=${STEWARD_LONG_COMMAND_SEC-}
  _steward_long_began='' _steward_long_line=''
  [[ $limit == <0-999999> ]] || limit=@LONG_SEC@
  # Skip commands ended by Ctrl-C or Ctrl-Z, because you are at the terminal.
  [[ -z $began || $code == (130|146|148) ]] && return 0
  local -i took=$(( EPOCHREALTIME - began ))
  (( took < limit || took > 999999 )) && return 0
  _steward_long_send $code $took ${(z)line}
}

add-zsh-hook preexec _steward_long_preexec
add-zsh-hook precmd _steward_long_precmd
fi
