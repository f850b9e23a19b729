#!/bin/sh
# ACTIONS_RUNNER_HOOK_JOB_STARTED: the runner calls it before the first step of a job. What fails here would fail the job, so nothing does.
status="${TARTAN_GUEST_ROOT-}/Volumes/My Shared Files/status"

# The watchdog of this guest stands down.
[ -z "${TARTAN_RUNNER_STATE-}" ] || (: >"$TARTAN_RUNNER_STATE/job-started") 2>/dev/null

# The Mac hears of it. If it cannot, it must not believe either that there is no job.
(: >"$status/job-started") 2>/dev/null || rm -f "$status/runner-ready" 2>/dev/null

# What the image or the Pod had asked for.
[ -z "${TARTAN_RUNNER_NEXT_HOOK-}" ] || exec "$TARTAN_RUNNER_NEXT_HOOK"
exit 0
