#!/bin/sh
# Written by "steward hooks install", removed by "steward hooks uninstall".
# An assistant runs this at each of its hooks. It finds Node.js and steward, also after either was upgraded
# or moved, and hands over. Where it cannot, it does nothing and says nothing: a hook never fails the assistant.

@ENVIRONMENT@
# What began by this script ends without a trace once an uninstall has taken it away.
export STEWARD_SHIM="$0"
# A project's settings for Node.js, which may load code of that project, are not for this process.
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

# Where an exec fails after all (a node of another machine), the shell would leave with an error.
trap 'exit 0' EXIT
[ -z "${BASH_VERSION-}" ] || shopt -s execfail

@FIND@
# Without steward, the status line that it was added to is still printed.
if [ "${1-} ${2-}" = 'statusline --then' ]; then exec /bin/sh -c "${3-}"; fi
exit 0
