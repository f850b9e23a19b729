import { program } from './program.ts';
import { flag, group, whole } from './value.ts';

export const runnersController = group(
  'The runners controller, which manages RunnerPools: GitHub Actions runners, each a VM for one job. Pools are in the namespace of the release.',
  {
    enabled: flag(
      'Run the runners controller. Delete all pools and wait before you disable it: without it, pools cannot be deleted.',
      false,
    ),
    ...program({
      replicas: 1,
      memory: {
        why: 'Resources. The caches hold the runner Pods of one namespace, and the Nodes.',
        request: '128Mi',
        limit: '256Mi',
        most: '256Mi',
        pattern: '^(9[6-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-6])Mi$',
      },
      flags: 'runners-flags.md',
      github: 'the runners of pools',
    }),
    stuckAfterSeconds: whole(
      'After this time a starting or terminating Pod counts as stuck, and a runner that is offline at GitHub is retired.',
      600,
      { minimum: 10, maximum: 86_400 },
    ),
  },
);
