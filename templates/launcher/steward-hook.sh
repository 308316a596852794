#!/bin/sh
# Written by "steward install hooks", removed by "steward uninstall hooks".
# Runs steward for a hook or the status line of an assistant. Finds Node.js and steward even after an upgrade or a move.
# Does nothing if either is missing, because a hook must never break the assistant.

@ENVIRONMENT@
# If this script no longer exists, steward has been uninstalled and writes no files.
export STEWARD_SHIM="$0"
# If a project sets NODE_OPTIONS, Node.js could load the project's code.
unset NODE_OPTIONS NODE_PATH STEWARD_STDIN_FD

run() {
  case ${1-} in
    --where)
      printf '%s\n%s\n' "$node" "$steward"
      exit 0
      ;;
    statusline) exec "$node" "$steward" "$@" ;;
  esac
  case $* in @TOOL_COMMANDS@) run_tool "$@" ;; esac
  exec "$node" "$steward" hook "$@"
}

# Most hook calls are tool events, which log one line of ids. Writes that line without Node.js if possible.
run_tool() {
  block='' assistant=${2-claude-code}
  ! record_tool 2>/dev/null || exit 0
  [ -n "$block" ] || return 0
  # Node.js reads $block from file descriptor 3, then the rest of stdin.
  export STEWARD_STDIN_FD=3
  exec "$node" "$steward" hook "$@" 3<<EOF
$block
EOF
}

# On failure, writes nothing to the log; `block` then contains the input that was read.
record_tool() {
  [ "${STEWARD_INTERNAL-}" != 1 ] || return 0
  # One event in a hundred goes to Node.js, because only Node.js can process and rotate a large log.
  case $$ in *00) return 1 ;; esac
  area=@AREA@
  # This machine's folder in the user area; empty if the user area belongs to this machine.
  IFS= read -r place <@PLACE@ || return 1
  state=$area/${place}state
  log=$state/work-events.jsonl
  [ "${STEWARD_HOME:-${HOME-}/.steward}" = "$area" ] && is_log || return 1
  [ -x /bin/dd ] && [ -x /bin/date ] && [ ! -t 0 ] || return 1
  block=$(/bin/dd bs=65536 count=1)
  locale=${LC_ALL-}
  LC_ALL=C
  if parse_block && is_open && find_repo; then is_plain=yes; else is_plain=; fi
  if [ -n "$locale" ]; then LC_ALL=$locale; else unset LC_ALL; fi
  [ -n "$is_plain" ] && now=$(/bin/date -u +%Y-%m-%dT%H:%M:%S.%3NZ) || return 1
  # Only GNU date supports milliseconds.
  case $now in *N*) now=${now%%.*}Z ;; esac
  case $now in [0-9]*Z) ;; *) return 1 ;; esac
  field=''
  [ "$assistant" = claude-code ] || field=",\"assistant\":\"$assistant\""
  umask 077
  # Starts with a line feed, in case a killed process wrote only part of a line.
  is_log && printf '\n{"ts":"%s","type":"%s","session":"%s"%s,"tool":"%s"%s}\n' \
    "$now" "$type" "$session" "$repo" "$tool" "$field" >>"$log"
}

is_log() {
  [ -f "$log" ] && [ ! -L "$log" ] && [ ! -L "$state" ]
}

# Sets session, tool, type and cwd. Accepts only a complete payload that begins with the assistant's keys in order, with
# plain values. Node.js handles the events of subagents and of tools that write files.
parse_block() {
  case $block in
    *'"agent_id"'* | *'"subagent_id"'* | *'"agent_name"'* | *'"agentName"'*) return 1 ;;
    *'"cursor_version"'* | *'"conversation_id"'*) return 1 ;;
    '{"session_id":'*'}' | '{"hook_event_name":'*'}') ;;
    *) return 1 ;;
  esac
  set -f
  IFS='"'
  set -- $block
  is_whole "$@"
  whole=$?
  unset IFS
  set +f
  [ $whole -eq 0 ] || return 1
  shift
  keys='' session='' cwd='' event='' tool=''
  while [ "$1" != tool_input ]; do
    [ $# -gt 6 ] || return 1
    keys="$keys $1"
    case $2$4 in
      :,) words=4 value=$3 ;;
      ':{:') words=6 value=$5 && [ "$3$6" = 'level},' ] || return 1 ;;
      ':null,'*) words=2 value='' ;;
      *) return 1 ;;
    esac
    case $value in *\\*) return 1 ;; esac
    case $1 in
      session_id) session=$value ;;
      cwd) cwd=$value ;;
      hook_event_name) event=$value ;;
      tool_name) tool=$value ;;
    esac
    shift $words
  done
  case $assistant$keys in
@TOOL_KEYS@) ;;
    *) return 1 ;;
  esac
  case $event in
    PreToolUse) type=tool-before ;;
    PostToolUse) type=tool-after ;;
    PostToolUseFailure) type=tool-failed ;;
    *) return 1 ;;
  esac
  case $session in '' | *[!A-Za-z0-9._-]*) return 1 ;; esac
  case $tool in '' | *[!A-Za-z0-9._:-]* | @FILE_TOOLS@) return 1 ;; esac
  [ ${#session} -le 200 ] && [ ${#tool} -le 100 ]
}

# Succeeds if the text is a complete JSON object, with all braces closed. $@: the text, split at the quotes.
is_whole() {
  shape='' quoted=''
  for part; do
    if [ -z "$quoted" ]; then
      shape=$shape$part quoted=yes
    else
      # After an odd number of backslashes, the quote is part of the string.
      while :; do case $part in *\\\\) part=${part%??} ;; *) break ;; esac; done
      case $part in *\\) ;; *) quoted='' ;; esac
    fi
  done
  IFS='{'
  set -- $shape.
  opened=$#
  IFS='}'
  set -- $shape.
  [ $# -eq $opened ] && [ -n "$quoted" ]
}

# Succeeds if the session is not restricted. The first line of the index lists the restricted sessions, which stay
# restricted in other folders. In an index from an earlier version, that line lists all sessions.
is_open() {
  live=$state/sessions-live.json
  [ -e "$live" ] || return 0
  IFS= read -r listed <"$live" || return 1
  key=$session
  [ "$assistant" = claude-code ] || key=$assistant:$session
  case $listed in *"\"$key\""*) return 1 ;; esac
}

# Sets repo to the repository field of the log line. Node.js handles restricted folders, bare repositories, submodules and
# similar cases.
find_repo() {
  folder=${cwd%/}
  case $cwd in /*) ;; *) return 1 ;; esac
  case $folder/ in *//* | */./* | */../*) return 1 ;; esac
  repo=''
  while :; do
    [ ! -e "$folder/RESTRICTED.md" ] && [ ! -L "$folder/RESTRICTED.md" ] || return 1
    if [ -z "$repo" ] && { [ -e "$folder/.git" ] || [ -e "$folder/HEAD" ]; }; then name_repo || return 1; fi
    [ -n "$folder" ] || return 0
    folder=${folder%/*}
  done
}

name_repo() {
  git=$folder/.git
  name=${folder##*/}
  if [ -f "$git" ]; then
    # Use the main checkout's name for a linked worktree.
    IFS= read -r git <"$git" && git=${git#gitdir: } || return 1
    case $git in /*/.git/worktrees/*) name=${git%/.git/worktrees/*} ;; *) return 1 ;; esac
    main=$name
    name=${name##*/}
    while [ -n "$main" ]; do
      [ ! -e "$main/RESTRICTED.md" ] && [ ! -L "$main/RESTRICTED.md" ] || return 1
      main=${main%/*}
    done
    IFS= read -r common <"$git/commondir" && [ "$common" = ../.. ] || return 1
  elif [ -e "$git/commondir" ]; then
    return 1
  fi
  [ -e "$git/HEAD" ] || return 1
  case $name in '' | .* | *.git | *[!A-Za-z0-9._-]*) return 1 ;; esac
  [ ${#name} -le 100 ] && repo=",\"repo\":\"$name\""
}

# Exits with 0 even if exec fails, for example because node was built for another architecture.
trap 'exit 0' EXIT
[ -z "${BASH_VERSION-}" ] || shopt -s execfail

@FIND@
# If steward is missing, runs only the user's own status line command.
if [ "${1-} ${2-}" = 'statusline --then' ]; then exec /bin/sh -c "${3-}"; fi
exit 0
