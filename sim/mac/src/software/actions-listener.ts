import { stays } from './shell-texts.ts';

/** What plays GitHub's side for the stand-in: `actions-service.ts`, which no real Mac has. */
export const simActionsRunner = 'sim=${TARTAN_ROOT:-}/usr/bin/sim-actions-runner';

/**
 * run.sh and runsvc.sh of actions/runner. On a Mac that knows no GitHub it takes no job, and stays. Else it waits for jobs, one at a time,
 * and does what `/var/sim-workflows/NAME.sh` says, for the name of the job: that plays what the workflow and its checkout bring. A job
 * without such a file is done at once. SIGTERM ends its job and says goodbye, as the real one does.
 */
export const jobListener = (from: string): string => `#!/bin/sh
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
    ${stays.replaceAll('\n', '\n    ').trimEnd()}
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
# So that a signal is answered at once.
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
    # 3: the registration is gone, and nothing that it does brings it back.
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
