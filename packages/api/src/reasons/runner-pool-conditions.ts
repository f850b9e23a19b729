import type { ConditionDefinition } from './capi-conditions.ts';

export const runnerPoolConditions = {
  Ready: {
    means: 'There are as many runners as wanted, with the wanted image.',
    reasons: {
      Converged: ['True', 'All is as wanted.'],
      Filling: ['False', 'Pods are being created, or start.'],
      NoRoom: ['False', 'There is no room for more Pods on the Macs of the fleet.'],
      Draining: ['False', 'There are more Pods than wanted; those with a job finish it.'],
      Rolling: ['False', 'Pods with an outdated image are being replaced.'],
      NoGitHub: ['False', 'spec.github is not set, so that nobody knows where the runners belong.'],
      GitHubUnavailable: [
        'False',
        'GitHub does not answer, or refuses: see GitHubReachable. Runners that are there stay.',
      ],
      Deleting: ['False', 'The pool is being deleted; Pods with a job finish it.'],
    },
  },
  GitHubReachable: {
    means: 'GitHub takes registrations.',
    reasons: {
      Reachable: ['True', 'It did the last time.'],
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
      Starved: [
        'True',
        'Jobs wait though runners do so, too: GitHub does not bring them together. Look at labels and runner group.',
      ],
      Unknown: ['Unknown', 'The queue could not be read from GitHub.'],
    },
  },
  Stuck: {
    means: 'Pods never started, or do not go away.',
    reasons: {
      PodsStuckTerminating: [
        'True',
        'Pods were deleted long ago and are still there. Look at the agents of their Nodes.',
      ],
      PodsNeverStarted: ['True', 'Pods were bound long ago and no virtual machine runs.'],
      PodsSilent: [
        'True',
        'Virtual machines run, and their runners have not reported. See that the runner script is in the image.',
      ],
      NoneStuck: ['False', 'There are none.'],
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
