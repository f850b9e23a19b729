#!/bin/sh
# One GitHub Actions runner for one job, in a virtual machine that ends with it. docs/guest.md tells how it gets into an image.
#
# Flow: wait for the shares; say that the runner is ready; run it once with the configuration that the share `runner` holds; report its
# result; halt.
# Guarantees: the guest is halted on every path, also when this script was killed and launchd starts it again. The configuration is in no
# argument and in no log. The idle watchdog never ends a runner that has been given a job.
# Assumption: the guest runs one runner, and is thrown away afterwards.
set -u

# Before every path. Nothing on a Mac; tests and simulators put a folder there, and nothing outside of it is touched then.
root=${TARTAN_GUEST_ROOT-}
shared="$root/Volumes/My Shared Files"
status=$shared/status
log=$status/runner.log
runner=$root/opt/actions-runner
hook=$root/usr/local/libexec/tartan-runner/job-started.sh

# As sysexits.h and shells have them.
bad_configuration=78 not_found=127 killed=137 terminated=143
# A share is there within seconds of the boot, and all of them at once.
longest_wait_for_shares=120
# A runner that is asked to end says good-bye to GitHub first.
longest_good_bye=30

result='' pid='' reader='' watchdog='' state=''

say() { printf '%s tartan-runner: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >>"$log"; }

# give_up RESULT WORDS
give_up() {
  result=$1
  shift
  say "$@"
  exit "$result"
}

# In a process in the background: a TERM calls it off, and leaves no sleeper behind.
nap() {
  trap 'kill "$sleeper" 2>/dev/null; exit 0' TERM
  sleep "$1" &
  sleeper=$!
  wait "$sleeper"
}

# end PID SECONDS waits for a process of ours, but not for ever.
end() {
  { nap "$2" && kill -KILL "$1"; } >/dev/null 2>&1 &
  timer=$!
  wait "$1" 2>/dev/null
  kill "$timer" 2>/dev/null
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
    end "$pid" 5
  fi
  # What a job has left running may hold the pipe.
  [ -z "$reader" ] || end "$reader" 2
  [ -z "$state" ] || rm -rf "$state"
  # By a rename: a result is never half written. The first one counts.
  [ -e "$status/runner-rc" ] || { echo "${result:-$code}" >"$status/.runner-rc" && mv -f "$status/.runner-rc" "$status/runner-rc"; }
  halt
  exit 0
}

# What may be done about a job that begins. Both: the share is the job's as well, which may take the marker away.
job_has_begun() {
  : >"$state/job-started"
  [ -e "$status/job-started" ] || "$hook"
}

# What the runner says, into the log, without the configuration, whoever printed it.
listen() {
  while IFS= read -r line || [ -n "$line" ]; do
    # The listener's own word comes before the hook (tuist #12675): nothing lies between it and the job.
    case $line in *'Running job: '*) job_has_begun ;; esac
    while case $line in *"$configuration"*) ;; *) false ;; esac do
      line="${line%%"$configuration"*}***${line#*"$configuration"}"
    done
    printf '%s\n' "$line" >>"$log"
  done
}

# A job that has begun once. The worker is looked for since the hook comes later than it.
has_job() {
  [ -e "$state/job-started" ] || [ -e "$status/job-started" ] ||
    "$root/usr/bin/pgrep" -f "$runner/bin/Runner.Worker" >/dev/null 2>&1
}

# Ends a runner that has waited for so many seconds, and stands down for good at the first sign of a job.
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
    # Whoever would be ended is gone: the script was killed.
    kill -0 $$ 2>/dev/null || return
  done
}

# Calls `take NAME VALUE` for each variable of the Pod. Three characters of a value are escaped, as docs/guest.md has it.
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

# In a process of its own: nothing that a Pod says changes a variable of this script. Here it might, so what is needed later is kept as
# arguments. Names that a shell does not take are left out.
run() {
  cd "$runner" || exit "$not_found"
  set -- "$hook" "$state" "$root" "$configuration"
  take() {
    case $1 in '' | [0-9]* | *[!A-Za-z0-9_]*) return ;; esac
    command export "$1=$2" 2>/dev/null
  }
  variables
  # Somebody else's hook comes after ours.
  export TARTAN_RUNNER_NEXT_HOOK="${ACTIONS_RUNNER_HOOK_JOB_STARTED-}" ACTIONS_RUNNER_HOOK_JOB_STARTED="$1"
  export TARTAN_RUNNER_STATE="$2" TARTAN_GUEST_ROOT="$3"
  # So that run.sh hands a TERM on to the listener, which would not hear of it otherwise.
  export RUNNER_MANUALLY_TRAP_SIG=1
  # Not an argument, which every process could read. The listener takes it out of what it gives to jobs.
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
say 'The runner starts.'
# Which release it is, for the pool: GitHub gives no jobs to one that is too old. Empty where it does not tell.
"$runner/bin/Runner.Listener" --version >"$state/version" 2>/dev/null </dev/null || : >"$state/version"
cp "$state/version" "$status/.runner-ready" && mv -f "$status/.runner-ready" "$status/runner-ready" || : >"$status/runner-ready"
listen <"$state/said" &
reader=$!
run >"$state/said" 2>&1 </dev/null &
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
say "The runner has ended with $result."
exit "$result"
