import type { Live } from '@tartan/kube';
import type { Sight } from './observe.ts';
import type { Decision } from './decision.ts';
import type { Pod, PodStatus } from './snapshot.ts';
import { statusOf } from './status.ts';
import type { PodWorld } from './world.ts';

/** The status by this sight and this decision, whatever else somebody has written to the Pod meanwhile. */
export const statusFor =
  ({ snapshot, world }: Pick<Sight, 'snapshot'> & { readonly world: PodWorld }, decision: Decision) =>
  (pod: Live<Pod>): PodStatus | undefined =>
    statusOf({ ...snapshot, pod }, decision, world.hostIP());
