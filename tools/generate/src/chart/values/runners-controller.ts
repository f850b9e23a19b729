import { program } from './program.ts';
import { flag, group, whole } from './value.ts';

export const runnersController = group(
  'The process that looks after RunnerPools: runners of GitHub Actions, each a virtual machine for one job. They live in the namespace of the release.',
  {
    enabled: flag(
      'Whether there is one. Delete the pools and wait before you switch it off: without it nobody lets them go.',
      false,
    ),
    ...program({
      replicas: 1,
      memory: {
        why: 'What it needs. Its caches hold the runner Pods of one namespace, and the Nodes.',
        request: '128Mi',
        limit: '256Mi',
        most: '256Mi',
        pattern: '^(9[6-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-6])Mi$',
      },
      flags: 'runners-flags.md',
      github: 'the runners of pools',
    }),
    stuckAfterSeconds: whole(
      'After how long a Pod that starts, or goes, counts as stuck, and a runner that GitHub shows as offline is retired to free its slot.',
      600,
      { minimum: 10, maximum: 86_400 },
    ),
  },
);
