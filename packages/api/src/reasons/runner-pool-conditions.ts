import type { ConditionDefinition } from './capi-conditions.ts';

export const runnerPoolConditions = {
  Ready: {
    means: 'The pool has the desired number of runners, with the desired image.',
    reasons: {
      Converged: ['True', 'The desired state is reached.'],
      Filling: ['False', 'Pods are being created, or start.'],
      NoRoom: ['False', 'There is no room for more Pods on the Macs of the fleet.'],
      Draining: ['False', 'There are more Pods than desired; busy Pods finish their job.'],
      Rolling: ['False', 'Pods with an outdated image are being replaced.'],
      NoGitHub: ['False', 'spec.github is not set, so runners cannot be registered.'],
      GitHubUnavailable: ['False', 'GitHub does not answer, or refuses: see GitHubReachable. Existing runners stay.'],
      Deleting: ['False', 'The pool is being deleted; busy Pods finish their job.'],
    },
  },
  GitHubReachable: {
    means: 'GitHub takes registrations.',
    reasons: {
      Reachable: ['True', 'The last request succeeded.'],
      AppSecretInvalid: ['False', 'The Secret of the GitHub App is missing or incomplete.'],
      Denied: ['False', 'The GitHub App may not do this.'],
      RateLimited: ['False', 'GitHub asks to wait.'],
      Unavailable: ['False', 'GitHub does not answer.'],
    },
  },
  JobsWaiting: {
    means: 'Jobs ask for these runners and have none.',
    reasons: {
      NoneWaiting: ['False', 'No job waits.'],
      Saturated: ['True', 'All runners have a job. More replicas, or more Macs, would help.'],
      Starved: ['True', 'Jobs and runners both wait: GitHub does not assign them. Check labels and runner group.'],
      Unknown: ['Unknown', 'The queue could not be read from GitHub.'],
    },
  },
  Stuck: {
    means: 'Pods do not start, or do not terminate.',
    reasons: {
      PodsStuckTerminating: ['True', 'Pods were deleted long ago and still exist. Check the agents of their Nodes.'],
      PodsNeverStarted: ['True', 'Pods were bound long ago and no virtual machine runs.'],
      PodsSilent: [
        'True',
        'Virtual machines run, but their runners have not reported. Check that the image has the runner script.',
      ],
      NoneStuck: ['False', 'No Pod is stuck.'],
    },
  },
  RunnerOutdated: {
    means:
      'The runner in the image is older than the newest release. GitHub gives no jobs to a runner 30 days after a newer release.',
    reasons: {
      UpToDate: ['False', 'Runners have the newest release.'],
      UpdateDue: ['True', 'A newer release is out. Build an image with it before GitHub refuses the one in use.'],
      Refused: ['True', 'A newer release has been out for 30 days: GitHub gives no jobs to these runners.'],
      VersionUnknown: ['Unknown', 'No runner has reported its release, or GitHub did not tell the newest one.'],
    },
  },
} as const satisfies Record<string, ConditionDefinition>;
