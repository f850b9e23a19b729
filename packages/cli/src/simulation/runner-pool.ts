import { runnerPool } from '@tartan/api';
import { fleetNamespace as namespace } from './control-plane.ts';
import type { Furniture } from './furniture.ts';
import { appSecretName, organization } from './github.ts';

/** Of the one pool of the simulation. */
export const poolName = 'macos';
/** Images of a pool, in the order in which they are rolled out. */
export const runnerImage = (release: number): string => `ghcr.io/example/macos-tahoe-xcode:26.${release}`;

/** Two virtual machines fit on a Mac, which is what macOS allows. */
const perMac = 2;
const half = { podCPUMilli: 4000, podMemoryMB: 6144 } as const;

/** As many runners as fit on so many Macs. One that is there keeps its size: somebody may have scaled it. */
export const ensureRunnerPool = ({ ensure }: Furniture, macs: number): Promise<void> =>
  ensure(
    runnerPool.resource,
    runnerPool.make({
      metadata: { namespace, name: poolName },
      spec: {
        replicas: perMac * macs,
        image: runnerImage(1),
        fleetSelector: 'runners',
        ...half,
        // Half of a pool this small: one of two.
        rollout: { maxConcurrentPercent: 50 },
        github: { organization, appSecretName },
      },
    }),
  );
