# Notifies you when a long command finishes. Add to the end of ~/.bashrc: eval "$(steward shell-hook bash)"
if [[ $- == *i* && -z ${_steward_long_on-} ]] && shopt -q promptvars &&
  (( BASH_VERSINFO[0] > 4 || (BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4) )); then
_steward_long_on=1 _steward_long_none='' _steward_long_began='' _steward_long_line='' _steward_long_last=''
@TELL@

# Passes the exit status on to the next prompt command.
_steward_long_done() {
  local code=$? began=$_steward_long_began line=$_steward_long_line last=$_steward_long_last limit=${STEWARD_LONG_COMMAND_SEC-}
  _steward_long_began='' _steward_long_line='' _steward_long_last=''
  [[ $limit =~ ^[0-9]{1,6}$ ]] || limit=@LONG_SEC@
  # Skip commands ended by Ctrl-C or Ctrl-Z, because you are at the terminal.
  [[ -n $began && $code != 130 && $code != 146 && $code != 148 ]] || return "$code"
  local took=$(( (10#0${EPOCHREALTIME//[^0-9]/}+${EPOCHREALTIME:+0*}SECONDS*1000000 - began) / 1000000 ))
  (( took >= 10#$limit && took <= 999999 )) || return "$code"
  if [[ -z $line && $(trap -p DEBUG) != *_steward_long_line* ]]; then
    # Another program set the DEBUG trap, so use the history if it is complete.
    [[ ${HISTCONTROL-}${HISTIGNORE-} =~ ^(erasedups)?$ ]] || return "$code"
    line=$(HISTTIMEFORMAT='' builtin history 1)
    line=${line#*[0-9] }
  fi
  local -a words
  # The last command that ran is the one that failed.
  [[ -z $last || $last == "$line" ]] || line+=" ; $last"
  IFS=$' \t\n' read -r -d '' -a words <<<"$line"
  _steward_long_send "$code" "$took" "${words[@]}"
  return "$code"
}

if declare -p preexec_functions precmd_functions >/dev/null 2>&1; then
  # bash-preexec already uses the DEBUG trap.
  _steward_long_preexec() { _steward_long_began=$(( 10#0${EPOCHREALTIME//[^0-9]/}+${EPOCHREALTIME:+0*}SECONDS*1000000 )) _steward_long_line=$1; }
  preexec_functions+=(_steward_long_preexec)
  precmd_functions+=(_steward_long_done)
else
  PS0='${_steward_long_none:$((_steward_long_began=10#0${EPOCHREALTIME//[^0-9]/}+${EPOCHREALTIME:+0*}SECONDS*1000000,0)):0}'"${PS0-}"
  if [[ -z $(trap -p DEBUG) ]]; then
    # After a subshell, the trap sees only the prompt command.
    trap '[[ -z ${_steward_long_began-} || $BASH_COMMAND == _steward_long_done ]] || _steward_long_line=${_steward_long_line:-$BASH_COMMAND} _steward_long_last=$BASH_COMMAND' DEBUG
  fi
  PROMPT_COMMAND="_steward_long_done${PROMPT_COMMAND:+
$PROMPT_COMMAND}"
fi
fi
