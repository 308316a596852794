#!/bin/sh
# Written by "steward install jobs" and "steward install daemon", removed by "steward uninstall". The system's scheduler
# runs this script with the name of a job. It finds Node.js and steward even after an upgrade or a move, runs the job in
# the environment it was installed in, and records the exit code for "--status".

umask 077
@ENVIRONMENT@
# Tells steward that this is a scheduled run, which must exit if the job is no longer installed. An uninstall waits for
# the process with this pid, which may be the daemon.
export STEWARD_JOB="${1-} $$"
# Node.js options in the scheduler's environment must not apply here.
unset NODE_OPTIONS NODE_PATH

records=@RECORDS@
job=${1-}
keep=${2-}
case $job in
@JOBS@
  --where) log=/dev/null ;;
  *)
    echo "$0: no job named $job" >&2
    exit 2
    ;;
esac

record() {
  [ -d "$records" ] || return 0
  echo "$1" >"$records/.$job.$$" && mv -f "$records/.$job.$$" "$records/$job"
  rm -f "$records/.run.$job.$$"
}

# Restarts the daemon a minute after a failure, for schedulers that don't. Exit code 0 means that the daemon was stopped.
# If several launchers run this loop, only the newest continues. Uninstalling stops it by removing the .keep file.
keep_daemon() {
  named=
  name_keeper
  until "$node" "$steward" "$@" </dev/null >>"$log" 2>&1; do
    [ -n "$named" ] || name_keeper
    pauses=30
    while is_keeper && [ "$pauses" -gt 0 ]; do
      sleep 2
      pauses=$((pauses - 1))
    done
    is_keeper || leave
  done
  # A newer launcher may have replaced the .keep file since the daemon stopped.
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
echo 'Node.js or steward not found. Reinstall steward, then its jobs.' >>"$log"
record 127
exit 127
