import { waitForever } from './programs.ts';
import type { TarFile } from './tar.ts';

/** Plays GitHub for the stand-in: see `actions-service.ts`. No real Mac has it. */
const simActionsRunner = 'sim=${TARTAN_ROOT:-}/usr/bin/sim-actions-runner';

/**
 * run.sh and runsvc.sh of actions/runner. On a Mac without a simulated GitHub it waits forever without a job. Otherwise it takes jobs, one
 * at a time, and runs `/var/sim-workflows/NAME.sh`, by the name of the job, in place of the workflow and its checkout. A job without such a
 * file succeeds at once. SIGTERM ends its job and disconnects, like the real one.
 */
const jobListener = (from: string): string => `#!/bin/sh
# Stands in for ${from} of actions/runner.
cd "$(dirname "$0")" || exit 1
if [ ! -f .runner ]; then
  echo 'An error occurred: Not configured. Run config.(sh/cmd) to configure the runner.'
  exit 1
fi
echo 'Listening for Jobs'
${simActionsRunner}
"$sim" where >/dev/null 2>&1 || {
  stay() {
    ${waitForever.replaceAll('\n', '\n    ').trimEnd()}
  }
  stay
}
credential=$(sed -n 's/.*"clientId": "\\([^"]*\\)".*/\\1/p' .credentials)
work=
leave() {
  trap '' TERM INT
  [ -z "$work" ] || kill "$work" 2>/dev/null
  printf '%s' "$credential" | "$sim" bye -
  exit 0
}
trap leave TERM INT
# So that a signal is handled at once.
in_background() {
  "$@" &
  work=$!
  wait "$work"
  code=$?
  work=
  return "$code"
}
listen() { printf '%s' "$credential" | exec "$sim" wait $$ - >.job; }
do_job() {
  script=\${TARTAN_ROOT:-}/var/sim-workflows/$job.sh
  [ -f "$script" ] || return 0
  path=
  IFS=:
  for folder in $(cat .path); do path=$path\${path:+:}\${TARTAN_ROOT:-}$folder; done
  unset IFS
  mkdir -p _work _diag
  cd _work || return 1
  export PATH="$path" CI=true GITHUB_ACTIONS=true
  exec sh "$script" >>"../_diag/$job-$id.log" 2>&1 </dev/null
}
while :; do
  in_background listen || {
    # 3: the registration is gone for good.
    [ "$code" != 3 ] || echo 'An error occurred: The runner registration has been deleted from the server, please re-configure.'
    exit "$code"
  }
  read -r id job <.job
  echo "Running job: $job"
  conclusion=success
  in_background do_job || conclusion=failure
  printf '%s' "$credential" | "$sim" finished "$id" "$conclusion" -
  echo "Job $job completed with result: $conclusion"
done
`;

/**
 * config.sh of actions/runner. It takes its input from arguments or from ACTIONS_RUNNER_INPUT_<NAME>, refuses root and a runner that is
 * already configured, and reports GitHub's answer to an expired token: 404. A token with `expired` in it is expired, one with `invalid`
 * never existed (401). With `unreachable` in it GitHub cannot be reached: unless it runs unattended, config.sh then asks for its input
 * again and again (ConfigurationManager.ConfigureAsync).
 * Without a token in an argument or the environment it prompts for one, and reads the keys of a terminal, never a pipe
 * (Terminal.ReadSecret). An EOF character counts as a key of the token, so GitHub does not know such a token.
 * On a Mac with a simulated GitHub (`actions-service.ts`) that one checks the token, and returns the runner's credential.
 */
const configScript = `#!/bin/sh
# Stands in for config.sh of actions/runner.
cd "$(dirname "$0")" || exit 1
if [ "$(id -u)" = 0 ] && [ -z "\${RUNNER_ALLOW_RUNASROOT:-}" ]; then
  echo 'Must not run with sudo'
  exit 1
fi
verb=configure
url=\${ACTIONS_RUNNER_INPUT_URL:-}
token=\${ACTIONS_RUNNER_INPUT_TOKEN:-}
name=\${ACTIONS_RUNNER_INPUT_NAME:-$(hostname -s)}
labels=\${ACTIONS_RUNNER_INPUT_LABELS:-}
default_labels=yes
work=\${ACTIONS_RUNNER_INPUT_WORK:-_work}
unattended=\${ACTIONS_RUNNER_INPUT_UNATTENDED:-}
while [ $# -gt 0 ]; do
  case $1 in
    remove) verb=remove ;;
    --url) url=$2 && shift ;;
    --token) token=$2 && shift ;;
    --name) name=$2 && shift ;;
    --labels) labels=$2 && shift ;;
    --work) work=$2 && shift ;;
    --runnergroup) shift ;;
    --unattended) unattended=true ;;
    --no-default-labels) default_labels=no ;;
    --replace | --disableupdate | --ephemeral) ;;
    --version)
      cat bin/version
      exit 0
      ;;
    *)
      printf "Unrecognized command-line input arguments: '%s'. For usage refer to: .\\\\config.cmd --help or ./config.sh --help\\n" "\${1#--}"
      exit 1
      ;;
  esac
  shift
done
refused() {
  printf "Http response code: %s from 'POST https://api.github.com/actions/runner-registration'\\n" "$1"
  printf 'Response status code does not indicate success: %s.\\n' "$2"
  exit 1
}
missing() {
  printf 'Invalid configuration provided for %s. Terminating unattended configuration.\\n' "$1"
  exit 1
}
[ -n "$token" ] || {
  [ -z "$unattended" ] || missing token
  printf 'What is your runner register token? '
  if [ ! -t 0 ]; then
    echo 'Cannot read keys when either application does not have a console or when console input has been redirected. Try Console.Read.'
    exit 1
  fi
  IFS= read -r token || refused NotFound '404 (Not Found)'
  echo '****'
}
if [ "$verb" = remove ]; then
  case $token in *expired* | *EXPIRED*) refused NotFound '404 (Not Found)' ;; esac
  rm -f .runner .credentials .credentials_rsaparams
  echo 'Runner removed successfully'
  exit 0
fi
if [ -e .runner ]; then
  echo "Cannot configure the runner because it is already configured. To reconfigure the runner, run 'config.cmd remove' or './config.sh remove' first."
  exit 1
fi
[ -n "$url" ] || missing url
case $token in
  *expired* | *EXPIRED*) refused NotFound '404 (Not Found)' ;;
  *invalid* | *INVALID*) refused Unauthorized '401 (Unauthorized)' ;;
  *unreachable*)
    [ -z "$unattended" ] || exit 1
    while :; do
      echo 'Failed to connect.  Try again or ctrl-c to quit'
      sleep 1
    done
    ;;
esac
id=7
credential=$$-$(date +%s)
${simActionsRunner}
if "$sim" where >/dev/null 2>&1; then
  answer=$(printf '%s' "$token" | "$sim" register "$name" "$labels" "$default_labels" -) || {
    case $answer in
      404) refused NotFound '404 (Not Found)' ;;
      409) echo "A runner exists with the same name" && exit 1 ;;
      *) refused "$answer" "$answer" ;;
    esac
  }
  id=\${answer%% *}
  credential=\${answer#* }
fi
umask 022
printf '{\\n  "agentId": %s,\\n  "agentName": "%s",\\n  "poolId": 1,\\n  "poolName": "Default",\\n  "gitHubUrl": "%s",\\n  "workFolder": "%s",\\n  "labels": "%s"\\n}\\n' "$id" "$name" "$url" "$work" "$labels" >.runner
printf '{\\n  "scheme": "OAuth",\\n  "data": { "clientId": "%s" }\\n}\\n' "$credential" >.credentials
printf '{ "d": "of-the-stand-in" }\\n' >.credentials_rsaparams
chmod 600 .credentials .credentials_rsaparams
# As short as the PATH of the process that configures it (INC-229).
printf '%s\\n' "$PATH" >.path
org=\${url#*://*/}
service=actions.runner.$(printf '%s' "\${org%/}" | tr / -).$name
sed -e "s|{{SvcNameVar}}|$service|g" bin/darwin.svc.sh.template >svc.sh
chmod 755 svc.sh
echo 'Runner successfully added'
`;

const serviceTemplate = `#!/bin/sh
# Stands in for svc.sh of actions/runner.
service={{SvcNameVar}}
if [ "$(id -u)" = 0 ]; then
  echo 'Must not run with sudo'
  exit 1
fi
if [ ! -f bin/darwin.svc.sh.template ]; then
  echo 'Must run from runner root or install is corrupt'
  exit 1
fi
plist=$HOME/Library/LaunchAgents/$service.plist
case \${1:-} in
  install)
    if [ -f "$plist" ]; then
      echo "Failed: error: exists $plist"
      exit 1
    fi
    mkdir -p "$HOME/Library/LaunchAgents" "$HOME/Library/Logs/$service"
    cp bin/runsvc.sh runsvc.sh
    chmod 755 runsvc.sh
    sed -e "s|{{SvcName}}|$service|g; s|{{RunnerRoot}}|$PWD|g; s|{{UserHome}}|$HOME|g" bin/actions.runner.plist.template >"$plist"
    printf '%s\\n' "$plist" >.service
    echo 'svc install complete'
    ;;
  # The legacy verbs act on the domain of the caller, which over SSH is not that of the console (INC-228).
  start) launchctl load -w "$plist" || { echo "Failed: failed to load $plist" && exit 1; } ;;
  stop) launchctl unload "$plist" || { echo "Failed: failed to unload $plist" && exit 1; } ;;
  uninstall)
    launchctl unload "$plist" 2>/dev/null
    rm -f "$plist" .service
    ;;
  status)
    if [ ! -f "$plist" ]; then
      echo 'not installed'
      exit 0
    fi
    echo "$plist"
    if launchctl list | grep "$service"; then echo Started; else echo Stopped; fi
    ;;
  *)
    echo 'Usage: ./svc.sh [install, start, stop, status, uninstall]'
    exit 1
    ;;
esac
`;

const plistTemplate = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
  <dict>
    <key>Label</key>
    <string>{{SvcName}}</string>
    <key>ProgramArguments</key>
    <array>
      <string>{{RunnerRoot}}/runsvc.sh</string>
    </array>
    <key>WorkingDirectory</key>
    <string>{{RunnerRoot}}</string>
    <key>RunAtLoad</key>
    <true/>
    <key>StandardOutPath</key>
    <string>{{UserHome}}/Library/Logs/{{SvcName}}/stdout.log</string>
    <key>StandardErrorPath</key>
    <string>{{UserHome}}/Library/Logs/{{SvcName}}/stderr.log</string>
    <key>ProcessType</key>
    <string>Interactive</string>
    <key>SessionCreate</key>
    <true/>
  </dict>
</plist>
`;

/** The content of `actions-runner-osx-arm64-<version>.tar.gz`. Without `svc.sh`: config.sh creates it. */
export const actionsRunner = (version: string): readonly TarFile[] => [
  { path: 'config.sh', mode: 0o755, text: configScript },
  { path: 'run.sh', mode: 0o755, text: jobListener('run.sh') },
  { path: 'bin/runsvc.sh', mode: 0o755, text: jobListener('runsvc.sh') },
  { path: 'bin/version', mode: 0o644, text: `${version}\n` },
  { path: 'bin/darwin.svc.sh.template', mode: 0o644, text: serviceTemplate },
  { path: 'bin/actions.runner.plist.template', mode: 0o644, text: plistTemplate },
];
