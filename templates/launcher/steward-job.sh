#!/bin/sh
# Written by "steward sense install" and its likes, removed by their --uninstall. The system's scheduler runs this
# with the name of a job. It finds Node.js and steward, also after either was upgraded or moved, hands over with the
# environment of whoever installed it, and leaves how the run ended for "--status".

umask 077
@ENVIRONMENT@
# What runs by a scheduler does so only while its job is installed, and is waited for by an uninstall: until the end of
# this script, which notes how the run ended; or until that of the daemon, which takes the place of this script.
export STEWARD_JOB="${1-} $$"
# Settings for Node.js of whoever started the scheduler are not for this process.
unset NODE_OPTIONS NODE_PATH

records=@RECORDS@
job=${1-}
keep=${2-}
case $job in
@JOBS@
  --where) log=/dev/null ;;
  *)
    echo "$0: no job of the name $job" >&2
    exit 2
    ;;
esac

record() {
  [ -d "$records" ] || return 0
  echo "$1" >"$records/.$job.$$" && mv -f "$records/.$job.$$" "$records/$job"
  rm -f "$records/.run.$job.$$"
}

# Where the scheduler starts nothing again: after a failure the daemon is started after a minute; 0 means that it was
# stopped. Of several that would do so the one that began last goes on; an uninstall takes its name away.
keep_daemon() {
  named=
  name_keeper
  until "$node" "$steward" "$@" </dev/null >>"$log" 2>&1; do
    [ -n "$named" ] || name_keeper
    left=30
    while is_keeper && [ "$left" -gt 0 ]; do
      sleep 2
      left=$((left - 1))
    done
    is_keeper || leave
  done
  # The name may be that of a launcher which began when this one's daemon was stopped.
  if is_keeper; then rm -f "$records/.keep"; fi
  leave
}

name_keeper() {
  [ -d "$records" ] || return 0
  { echo "$$" >"$records/.keep"; } 2>/dev/null && named=1
}

is_keeper() {
  keeper=
  { IFS= read -r keeper <"$records/.keep"; } 2>/dev/null
  [ "$keeper" = "$$" ]
}

leave() {
  rm -f "$records/.run.$job.$$"
  exit 0
}

run() {
  case $job in
    --where)
      printf '%s\n%s\n' "$node" "$steward"
      exit 0
      ;;
    daemon)
      record ''
      [ "$keep" != --keep ] || keep_daemon "$@"
      exec "$node" "$steward" "$@" </dev/null >>"$log" 2>&1
      ;;
  esac
  "$node" "$steward" "$@" </dev/null >>"$log" 2>&1
  code=$?
  record "$code"
  exit "$code"
}

if [ -f "$log" ] && [ "$(wc -c <"$log")" -gt 262144 ]; then mv -f "$log" "$log.1"; fi
true 2>/dev/null >>"$log" || log=/dev/null

@FIND@
echo 'Node.js or steward is not found any more. Install steward, then its jobs, again.' >>"$log"
record 127
exit 127
