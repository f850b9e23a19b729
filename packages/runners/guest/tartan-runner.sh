#!/bin/sh
# One GitHub Actions runner for one job, in a virtual machine that ends with it. docs/guest.md describes how to install it in an image.
#
# Flow: wait for the shares; report that the runner is ready; run it once with the configuration in the share `runner`; report its
# result; halt.
# Guarantees: the guest is halted on every path, also when this script was killed and launchd starts it again. The configuration is in no
# argument and in no log. The idle watchdog never ends a runner that has a job.
# Assumption: the guest runs one runner, and is deleted afterwards.
set -u

# Prefix of every path. Empty on a Mac; tests and simulators set a folder, and nothing outside of it is touched then.
root=${TARTAN_GUEST_ROOT-}
shared="$root/Volumes/My Shared Files"
status=$shared/status
log=$status/runner.log
runner=$root/opt/actions-runner
hook=$root/usr/local/libexec/tartan-runner/job-started.sh

# As in sysexits.h and in shells.
bad_configuration=78 not_found=127 killed=137 terminated=143
# Shares appear within seconds of the boot, all at once.
longest_wait_for_shares=120
# A runner that gets TERM first signs off at GitHub.
longest_good_bye=30

result='' ending='' pid='' reader='' watchdog='' state=''

say() { printf '%s tartan-runner: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >>"$log"; }

# give_up RESULT WORDS
give_up() {
  result=$1
  shift
  say "$@"
  exit "$result"
}

# For a background process: a TERM ends it together with its sleep.
nap() {
  trap 'kill "$sleeper" 2>/dev/null; exit 0' TERM
  sleep "$1" &
  sleeper=$!
  wait "$sleeper"
}

halt() {
  until "$root/usr/bin/sudo" -n "$root/sbin/shutdown" -h now || "$root/sbin/shutdown" -h now; do
    say 'The guest could not be shut down. Its user needs sudo without a password. It is tried again.'
    sleep 10
  done >/dev/null 2>&1
}

finish() {
  code=$?
  trap - EXIT
  trap : HUP INT TERM
  [ -z "$watchdog" ] || kill "$watchdog" 2>/dev/null
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null
    { nap 5 && kill -KILL "$pid"; } >/dev/null 2>&1 &
    timer=$!
    wait "$pid" 2>/dev/null
    kill "$timer" 2>/dev/null
  fi
  # A line ends the reader, because processes that a job left running may hold the pipe open. A write without a reader ends its process,
  # therefore a subshell.
  if [ -n "$reader" ]; then
    (printf '%s\n' "$end_of_output" >&3) 2>/dev/null
    wait "$reader" 2>/dev/null
  fi
  # After all that the runner has printed.
  [ -z "$ending" ] || say "$ending"
  [ -z "$state" ] || rm -rf "$state"
  # Renamed, so that a result is never half written. The first result counts.
  [ -e "$status/runner-rc" ] || { echo "${result:-$code}" >"$status/.runner-rc" && mv -f "$status/.runner-rc" "$status/runner-rc"; }
  halt
  exit 0
}

# Called when a job begins. Writes both markers, because the job can write to the share and remove the one there.
job_has_begun() {
  : >"$state/job-started"
  [ -e "$status/job-started" ] || "$hook"
}

# Copies the runner's output to the log, without the configuration. The line of the runner before the end of the output may be incomplete.
listen() {
  reading=true
  while "$reading" && IFS= read -r line; do
    case $line in *"$end_of_output") line=${line%"$end_of_output"} reading=false ;; esac
    "$reading" || [ -n "$line" ] || break
    # The listener prints this line before it starts the hook (tuist #12675), directly before the job.
    case $line in *'Running job: '*) job_has_begun ;; esac
    while case $line in *"$configuration"*) ;; *) false ;; esac do
      line="${line%%"$configuration"*}***${line#*"$configuration"}"
    done
    printf '%s\n' "$line" >>"$log"
  done
}

# Whether a job has begun. Also looks for the worker, which starts before the hook.
has_job() {
  [ -e "$state/job-started" ] || [ -e "$status/job-started" ] ||
    "$root/usr/bin/pgrep" -f "$runner/bin/Runner.Worker" >/dev/null 2>&1
}

# Ends a runner that has waited for so many seconds. Stops for good at the first sign of a job.
watch_idle() {
  waited=0
  until has_job; do
    if [ "$waited" -ge "$1" ]; then
      : >"$state/idle"
      kill -TERM "$pid"
      nap "$longest_good_bye"
      kill -KILL "$pid"
      return
    fi
    nap 1
    waited=$((waited + 1))
    # This script was killed, so there is no runner to end.
    kill -0 $$ 2>/dev/null || return
  done
}

# Calls `take NAME VALUE` for each variable of the Pod. Three characters of a value are escaped: see docs/guest.md.
variables() {
  while IFS= read -r tartan_line; do
    tartan_value=$(printf '%b.' "${tartan_line#*=}")
    take "${tartan_line%%=*}" "${tartan_value%.}"
  done <"$shared/env/tuist.env"
}

idle_timeout() {
  take() { [ "$1" != TUIST_RUNNER_IDLE_TIMEOUT_SECONDS ] || printf %s "$2"; }
  variables
}

# Runs in its own process: variables of a Pod cannot change those of this script. They can in this function, so it keeps what it needs
# later as arguments. Names that are invalid in a shell are skipped.
run() {
  cd "$runner" || exit "$not_found"
  set -- "$hook" "$state" "$root" "$configuration"
  take() {
    case $1 in '' | [0-9]* | *[!A-Za-z0-9_]*) return ;; esac
    command export "$1=$2" 2>/dev/null
  }
  variables
  # A hook that the image or the Pod set runs after ours.
  export TARTAN_RUNNER_NEXT_HOOK="${ACTIONS_RUNNER_HOOK_JOB_STARTED-}" ACTIONS_RUNNER_HOOK_JOB_STARTED="$1"
  export TARTAN_RUNNER_STATE="$2" TARTAN_GUEST_ROOT="$3"
  # Makes run.sh forward a TERM to the listener, which would not get it otherwise.
  export RUNNER_MANUALLY_TRAP_SIG=1
  # Not an argument, which every process could read. The listener removes it from the environment of jobs.
  export ACTIONS_RUNNER_INPUT_JITCONFIG="$4"
  exec ./run.sh
}

trap finish EXIT
trap 'result=$terminated; exit "$terminated"' HUP INT TERM

waited=0
until [ -d "$status" ] && [ -f "$shared/env/tuist.env" ]; do
  [ "$waited" -lt "$longest_wait_for_shares" ] || exit "$bad_configuration"
  sleep 1
  waited=$((waited + 1))
done
(: >>"$log") 2>/dev/null || log=/dev/null

[ ! -e "$status/runner-ready" ] || give_up "$killed" 'A runner was here before: the script was killed, or the guest rebooted.'
configuration=$(cat "$shared/runner/jitconfig" 2>/dev/null)
[ -n "$configuration" ] || give_up "$bad_configuration" 'There is no configuration in the share runner.'
[ -x "$runner/run.sh" ] || give_up "$not_found" "There is no $runner/run.sh in this image."
[ -x "$hook" ] || give_up "$not_found" "There is no $hook in this image, so nobody would hear of a job."
timeout=$(idle_timeout)
case $timeout in *[!0-9]*) give_up "$bad_configuration" 'TUIST_RUNNER_IDLE_TIMEOUT_SECONDS is not a number.' ;; esac

state=$(mktemp -d) || give_up "$bad_configuration" 'There is no room for temporary files.'
mkfifo "$state/said"
end_of_output="$state: end of the output"
say 'The runner starts.'
# The release of the runner, for the pool: GitHub gives no jobs to one that is too old. Empty if the listener does not print it.
"$runner/bin/Runner.Listener" --version >"$state/version" 2>/dev/null </dev/null || : >"$state/version"
cp "$state/version" "$status/.runner-ready" && mv -f "$status/.runner-ready" "$status/runner-ready" || : >"$status/runner-ready"
listen <"$state/said" &
exec 3>"$state/said"
reader=$!
run >&3 2>&1 </dev/null 3>&- &
pid=$!
if [ "${timeout:-0}" -gt 0 ]; then
  watch_idle "$timeout" >/dev/null 2>&1 &
  watchdog=$!
fi
wait "$pid"
result=$?
if [ -e "$state/idle" ]; then
  result=0
  say "There was no job for $timeout seconds."
fi
pid=
ending="The runner has ended with $result."
exit "$result"
