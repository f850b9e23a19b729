import { program } from './program.ts';
import { flag, group } from './value.ts';

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
  },
);
