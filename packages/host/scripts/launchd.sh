# Shared by scripts that install a launchd job. Sent between lib.sh and the script of the step.
#
#   register_job LABEL PLIST   registers the job with exactly this text. Does nothing when it is already: macOS counts
#                              registrations, and stops restarting a job that had too many (INC-09).
#   reload_job LABEL PLIST     the same, and verifies that a new process stays up. For jobs that run for ever.
#   remove_job LABEL           removes the job and its file.
#   check_job LABEL PLIST      for `check`: names what register_job would change.
#   check_running LABEL        for `check`: names a job that is not running.
#   check_no_job LABEL         for `check_absent`: names what remove_job would change.
#   job_pid LABEL              the process, or nothing.
#   job_loaded LABEL           whether launchd knows the job.
#
# All of them print a reason on standard error before a non-zero return, and may be called inside a condition, where `set -e` is off.
#
# The file changes only while the job is not loaded. So even after an interruption a loaded job was loaded from exactly the bytes of
# the file.

# For a job of a GUI session a script sets these: gui/501, that user's LaunchAgents folder, and its owner.
JOB_DOMAIN=system
JOB_FOLDER=$ROOT/Library/LaunchDaemons
JOB_OWNER=root:wheel

job_file() { printf '%s/%s.plist' "$JOB_FOLDER" "$1"; }

# 113: launchd does not know the job. 125: its domain does not exist, such as the session of a user who is not logged in.
job_loaded() {
  job_code=0
  launchctl print "$JOB_DOMAIN/$1" >/dev/null 2>&1 || job_code=$?
  case $job_code in
    0) return 0 ;;
    113 | 125) return 1 ;;
  esac
  # Neither yes nor no: the script must not change anything.
  fail "launchctl print $JOB_DOMAIN/$1 answered $job_code"
}

# awk reads to the end: otherwise launchctl would get SIGPIPE.
job_pid() { launchctl print "$JOB_DOMAIN/$1" 2>/dev/null | awk '$1 == "pid" && $2 == "=" && NF == 3 && !seen++ { print $3 }'; }

check_job() {
  holds "$(job_file "$1")" "$2" || differs "the launchd job $1 is described otherwise"
  job_loaded "$1" || differs "the launchd job $1 is not loaded"
}

check_running() { [ -n "$(job_pid "$1")" ] || differs "the launchd job $1 is not running"; }

check_no_job() {
  [ ! -e "$(job_file "$1")" ] || differs "the launchd job $1 is still installed"
  ! job_loaded "$1" || differs "the launchd job $1 is still loaded"
}

# Waits until launchd does not list the job: until then a bootstrap fails with 5 (INC-220). Three times our longest exit timeout.
unload_job() {
  job_loaded "$1" || return 0
  bootout_code=0
  job_said=$(launchctl bootout "$JOB_DOMAIN/$1" 2>&1) || bootout_code=$?
  job_tries=30
  while job_loaded "$1"; do
    # 3: the job was gone. 5 and 36: it is ending. Only whether the job is still loaded distinguishes these from a refusal.
    if [ "$job_tries" = 0 ]; then
      printf 'the launchd job %s does not go away after bootout (%s: %s)\n' "$1" "$bootout_code" "$job_said" >&2
      return 1
    fi
    job_tries=$((job_tries - 1))
    sleep 1
  done
}

# The meaning of an exit code of `launchctl bootstrap`.   explain_bootstrap LABEL CODE TEXT
explain_bootstrap() {
  case $2 in
    5) job_why='launchd cannot read the job: a program or folder it names is missing, or an earlier one of this name still ends' ;;
    37) job_why='another start of it is under way' ;;
    119) job_why="it is disabled, and enabling it had no effect: see launchctl print-disabled $JOB_DOMAIN" ;;
    122) job_why="its file may be written by others than $JOB_OWNER: see ls -le $(job_file "$1")" ;;
    125) job_why="there is no domain $JOB_DOMAIN: nobody is logged in at the console" ;;
    *) job_why='launchd refused it' ;;
  esac
  printf 'the launchd job %s was not loaded: %s (%s: %s)\n' "$1" "$job_why" "$2" "$3" >&2
}

load_job() {
  # A label stays disabled without its file and across reboots. Enabling it is no registration.
  launchctl enable "$JOB_DOMAIN/$1" || true
  job_tries=15
  while :; do
    bootstrap_code=0
    job_said=$(launchctl bootstrap "$JOB_DOMAIN" "$(job_file "$1")" 2>&1) || bootstrap_code=$?
    case $bootstrap_code in
      0) return 0 ;;
      5 | 37) if job_loaded "$1"; then return 0; fi ;;
      *) job_tries=0 ;;
    esac
    if [ "$job_tries" = 0 ]; then
      explain_bootstrap "$1" "$bootstrap_code" "$job_said"
      return 1
    fi
    job_tries=$((job_tries - 1))
    sleep 1
  done
}

register_job() {
  if holds "$(job_file "$1")" "$2"; then
    if job_loaded "$1"; then return 0; fi
  else
    unload_job "$1" || return 1
    printf '%s' "$2" | write_file "$(job_file "$1")" 0644 "$JOB_OWNER" || return 1
  fi
  load_job "$1"
}

# Whether the job gets a process other than OLD, and still has it 5 s later: a kickstart may leave the old process (INC-09), and a job
# that crashes at once has a new process at every check (INC-10).   job_settled LABEL OLD
job_settled() {
  job_tries=20
  while [ "$job_tries" -gt 0 ]; do
    job_new=$(job_pid "$1")
    if [ -n "$job_new" ] && [ "$job_new" != "$2" ]; then
      sleep 5
      if [ "$(job_pid "$1")" = "$job_new" ]; then return 0; fi
      return 1
    fi
    job_tries=$((job_tries - 1))
    sleep 1
  done
  return 1
}

restart_job() { launchctl kickstart -k "$JOB_DOMAIN/$1" >&2 || true; }

reload_job() {
  job_old=$(job_pid "$1")
  if holds "$(job_file "$1")" "$2" && job_loaded "$1"; then
    restart_job "$1"
  else
    register_job "$1" "$2" || return 1
  fi
  if job_settled "$1" "$job_old"; then return 0; fi
  restart_job "$1"
  if job_settled "$1" "$job_old"; then return 0; fi
  job_new=$(job_pid "$1")
  if [ -z "$job_new" ]; then
    job_why='it does not stay up'
  elif [ "$job_new" = "$job_old" ]; then
    job_why="its old process $job_old is still there"
  else
    job_why='it starts again and again'
  fi
  printf 'the launchd job %s was started, but %s\n' "$1" "$job_why" >&2
  launchctl print "$JOB_DOMAIN/$1" 2>/dev/null |
    sed -n -e "s/^[$TAB ]*\(state = \)/\1/p" -e "s/^[$TAB ]*\(last exit [a-z]* = \)/\1/p" >&2 || true
  return 1
}

remove_job() {
  unload_job "$1" || return 1
  rm -f "$(job_file "$1")"
}
