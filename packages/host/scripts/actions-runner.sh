# The GitHub Actions runner of a builder, as a LaunchAgent of the console session: it starts virtual machines, which need that session.
#
# RUNNER: sha256 of the gzipped tar. RUNNER_USER, RUNNER_NAME, ORG, LABELS (comma-separated), JOB, PLIST, JOB_PATH (PATH of its jobs).
# Payload: the registration token, valid for an hour. Needed only to register: `check` then prints `needs payload`.
#
# A new runner is unpacked and registered in its own folder while the old one works, and replaces it once registered: an expired token
# does no harm. The last file written to a folder records its content, so that an interruption at any point shows.
#
# The token. The runner takes it as an argument, from the environment, or at its prompt, and the prompt reads keys from a terminal, never
# from a pipe (Terminal.ReadSecret, Console.ReadKey). Every user of the host sees arguments, and every process of the user sees the
# environment. So script(1) provides a terminal, and the token is typed. For the same reason --unattended is not used, which disables
# the prompt; arguments answer all other questions, and a deadline ends a runner that asks again.
#
# The labels. By default the runner adds self-hosted, macOS and ARM64, and then takes every job that asks for no more than these: jobs
# that are meant for a virtual machine would run on the Mac. So it gets only the labels in LABELS.
#
# The runner updates itself: its folder may be newer than RUNNER and is not compared (tuist/tuist#12253).
# needs: deadline launchd

folder=$ROOT/opt/actions-runner
new=$folder.new
old=$folder.old

# Sets the session in which the functions of launchd.sh work.   in_session_of USER
in_session_of() {
  JOB_DOMAIN=gui/$(id -u "$1")
  JOB_FOLDER=$ROOT/Users/$1/Library/LaunchAgents
  JOB_OWNER=$1:staff
}

# Calls COMMAND USER LABEL for every runner's job on this Mac, also those not created by Tartan.   each_job COMMAND
each_job() {
  for file in "$ROOT"/Users/*/Library/LaunchAgents/actions.runner.*.plist; do
    [ -e "$file" ] || continue
    user=${file#"$ROOT"/Users/}
    label=${file##*/}
    "$1" "${user%%/*}" "${label%.plist}"
  done
}

registration() { printf '%s\n' "org $ORG" "name $RUNNER_NAME" "labels $LABELS"; }
is_registered() { [ -f "$1/.runner" ] && [ -f "$1/.credentials" ] && holds "$1/.tartan-registration" "$(registration)
"; }
is_unpacked() { [ -x "$1/config.sh" ] && holds "$1/.tartan-release" "$RUNNER
"; }
# An interrupted push may leave a registered new folder: GitHub then does not know the old registration any more.
is_new_registered() { is_unpacked "$new" && is_registered "$new"; }
has_path() { holds "$1/.path" "$JOB_PATH"; }

is_another_job() { [ "$1 $2" != "$RUNNER_USER $JOB" ]; }
name_another_job() { ! is_another_job "$1" "$2" || differs "another runner's job $2 of $1 is there"; }
remove_another_job() { ! is_another_job "$1" "$2" || stop_job "$1" "$2"; }

stop_job() {
  in_session_of "$1"
  remove_job "$2"
  rm -rf "$ROOT/Users/$1/Library/Logs/$2"
}

check_agent() {
  in_session_of "$RUNNER_USER"
  check_job "$JOB" "$PLIST"
  check_running "$JOB"
}

check() {
  is_unpacked "$folder" || differs "$folder is not the wanted release of the runner"
  if ! is_registered "$folder"; then
    differs 'the runner is not registered with this organisation, name and labels'
    # The pusher creates a token only when it reads this line.
    is_new_registered || printf 'needs%spayload\n' "$TAB"
  fi
  has_path "$folder" || differs 'the runner gives its jobs another PATH'
  for file in "$new" "$old"; do
    [ ! -e "$file" ] || differs "$file was left by a push that was cut"
  done
  each_job name_another_job
  check_agent
}

unpack() {
  rm -rf "$new"
  mkdir -p "$new"
  tar -xzf "$STORE/$RUNNER" -C "$new"
  [ -x "$new/config.sh" ] || fail 'the archive of the runner holds no config.sh. Is it actions-runner-osx-arm64?'
  # As the runner's own svc.sh does: a self-update then does not replace the file that launchd runs.
  cp "$new/bin/runsvc.sh" "$new/runsvc.sh"
  chmod 0755 "$new/runsvc.sh"
  printf '%s\n' "$RUNNER" | write_file "$new/.tartan-release" 0644
  chown -R "$RUNNER_USER:staff" "$new"
}

# The output of config.sh without the terminal's control characters, and without any line that holds the token: a terminal echoes input.
# Only shell built-ins may touch the token.
without_token() {
  tr -d '\r\033' | while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      *"$token"*) ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

# Apple's script(1) types the end of its input before the line that it has just read, and the runner takes that EOF character for a key
# of the token. So the input must not end: it is a FIFO that is also open for writing, and is unlinked before the token is written to it.
type_token() {
  cd "$new"
  rm -f "$STATE/registration-input"
  mkfifo -m 0600 "$STATE/registration-input"
  {
    rm -f "$STATE/registration-input"
    printf '%s\n' "$token" >&4
    within 120 sudo -n -H -u "$RUNNER_USER" script -q /dev/null ./config.sh \
      --url "https://github.com/$ORG" --name "$RUNNER_NAME" --labels "$LABELS" --no-default-labels --runnergroup Default --work _work --replace \
      <&4 4<&-
  } 4<>"$STATE/registration-input"
}

register() {
  # From here on GitHub may know only the new runner. An interruption must not leave a folder that looks registered and is not.
  [ ! -f "$folder/.tartan-registration" ] || mv "$folder/.tartan-registration" "$folder/.tartan-registration-unsure"
  said=$(type_token 2>&1 | without_token)
  # The last file that config.sh writes. The exit code would be that of script(1).
  if [ ! -f "$new/.runner" ] || [ ! -f "$new/.credentials" ]; then
    printf '%s\n' "$said" | tail -n 20 >&2
    # The runner gets credentials only after GitHub has accepted it.
    if [ ! -f "$new/.credentials" ] && [ -f "$folder/.tartan-registration-unsure" ]; then
      mv "$folder/.tartan-registration-unsure" "$folder/.tartan-registration"
    fi
    rm -rf "$new"
    fail 'the runner could not be registered. Is the registration token less than an hour old? A runner that was there was left alone.'
  fi
  registration | write_file "$new/.tartan-registration" 0644 "$RUNNER_USER:staff"
}

# The registration belongs to the name, not to the release: a new release reuses it and needs no token.
take_registration_over() {
  for file in .runner .credentials .credentials_rsaparams .env .tartan-registration; do
    [ ! -f "$folder/$file" ] || cp -p "$folder/$file" "$new/$file"
  done
}

# The runner recorded the PATH under which it was registered, which is sshd's (INC-229).
write_path() { printf '%s' "$JOB_PATH" | write_file "$1/.path" 0644 "$RUNNER_USER:staff"; }

replace_folder() {
  if [ -e "$folder" ]; then
    rm -rf "$old"
    mv "$folder" "$old"
  fi
  mv "$new" "$folder"
  rm -rf "$old"
}

apply() {
  token=
  if [ "$HAS_PAYLOAD" = yes ]; then token=$(cat); fi
  in_session_of "$RUNNER_USER"
  launchctl print "$JOB_DOMAIN" >/dev/null 2>&1 ||
    fail "$RUNNER_USER is not logged in at the console, and the runner belongs to that session. See the step auto-login."
  if is_new_registered; then
    replace=yes
  elif ! is_registered "$folder"; then
    [ "$HAS_PAYLOAD" = yes ] ||
      fail 'the runner must be registered, and there is no registration token. Give one, and push again. A runner that is there was left alone.'
    unpack
    register
    replace=yes
  elif ! is_unpacked "$folder"; then
    unpack
    take_registration_over
    replace=yes
  else
    replace=no
  fi
  if [ "$replace" = yes ]; then
    write_path "$new"
    unload_job "$JOB"
    each_job remove_another_job
    replace_folder
  else
    each_job remove_another_job
  fi
  rm -rf "$new" "$old"
  in_session_of "$RUNNER_USER"
  if ! has_path "$folder"; then
    # The runner reads the file at its start.
    unload_job "$JOB"
    write_path "$folder"
  fi
  if [ -n "$(check_agent)" ]; then
    sudo -n -u "$RUNNER_USER" mkdir -p "$JOB_FOLDER" "$ROOT/Users/$RUNNER_USER/Library/Logs/$JOB"
    reload_job "$JOB" "$PLIST" || fail 'the runner does not stay up'
  fi
}

name_job() { differs "the runner's job $2 of $1 is still there"; }

check_absent() {
  each_job name_job
  for file in "$folder" "$new" "$old"; do
    [ ! -e "$file" ] || differs "$file is still there"
  done
}

# GitHub still lists the runner, as offline: the manager removes it there, with its GitHub App.
remove() {
  each_job stop_job
  rm -rf "$folder" "$new" "$old"
}
