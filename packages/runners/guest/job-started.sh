#!/bin/sh
# ACTIONS_RUNNER_HOOK_JOB_STARTED: the runner calls it before the first step of a job. A failure here would fail the job, so it never fails.
status="${TARTAN_GUEST_ROOT-}/Volumes/My Shared Files/status"

# Stops the idle watchdog of this guest.
[ -z "${TARTAN_RUNNER_STATE-}" ] || (: >"$TARTAN_RUNNER_STATE/job-started") 2>/dev/null

# Tells the agent on the Mac. If that fails, removes the marker that says that there is no job.
(: >"$status/job-started") 2>/dev/null || rm -f "$status/runner-ready" 2>/dev/null

# Then the hook that the image or the Pod had set.
[ -z "${TARTAN_RUNNER_NEXT_HOOK-}" ] || exec "$TARTAN_RUNNER_NEXT_HOOK"
exit 0
