#!/bin/sh
# Written by "steward hooks install", removed by "steward hooks uninstall".
# Runs steward for a hook or the status line of an assistant. Finds Node.js and steward even after an upgrade or a move.
# Does nothing, silently, if it finds neither: a hook must never fail the assistant.

@ENVIRONMENT@
# A process started by this script exits without a trace once an uninstall has removed the script.
export STEWARD_SHIM="$0"
# A project's Node.js options may load code from that project.
unset NODE_OPTIONS NODE_PATH

run() {
  case ${1-} in
    --where)
      printf '%s\n%s\n' "$node" "$steward"
      exit 0
      ;;
    statusline) exec "$node" "$steward" "$@" ;;
  esac
  exec "$node" "$steward" hook "$@"
}

# If exec fails (a node for another machine), the shell would exit with an error.
trap 'exit 0' EXIT
[ -z "${BASH_VERSION-}" ] || shopt -s execfail

@FIND@
# Without steward, still print the other status line.
if [ "${1-} ${2-}" = 'statusline --then' ]; then exec /bin/sh -c "${3-}"; fi
exit 0
