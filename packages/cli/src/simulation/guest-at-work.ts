import { inTheGuest } from '@tartan/api';

const { shares, variables, log } = inTheGuest;

/**
 * What a guest of a simulated Mac does by itself: a job that goes on and tells so, where guests tell it (docs/guest.md). Which job it is
 * comes from the Pod. `sleep` is as short as the Mac's pace: a hundred seconds of the guest are one of ours.
 */
export const guestAtWork = `shared='Volumes/My Shared Files'
variables="$shared/${shares.env}/${variables}"
job='without a name'
[ ! -f "$variables" ] || while IFS= read -r line; do
  case $line in JOB=*) job=\${line#JOB=} ;; esac
done <"$variables"
say() { [ ! -d "$shared/${shares.status}" ] || printf '%s\\n' "$*" >>"$shared/${shares.status}/${log}"; }
say 'The guest has booted.'
say "Job $job begins."
step=0
for what in 'check out the code' 'resolve packages' 'compile 214 files' 'link the app' 'boot the simulator'; do
  step=$((step + 1))
  sleep 20
  say "Step $step of 6: $what, done."
done
passed=0
while :; do
  sleep 200
  passed=$((passed + 7))
  say "Step 6 of 6: test, $passed passed, 0 failed."
done
`;
