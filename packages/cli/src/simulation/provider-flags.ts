import { serverNames } from '@tartan/api';
import { fleetNamespace } from './control-plane.ts';
import { claimPrefix } from './fleets.ts';

/** Flags of every provider here, in this process or in one of its own. */
export const usualFlags: readonly string[] = [
  `--secrets-namespace=${fleetNamespace}`,
  `--default-adopt-pool-prefix=${serverNames.defaultPoolPrefix}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
];

/** Nothing here takes longer than some seconds, so nobody is as patient as in production. */
export const patienceFlags: readonly string[] = [
  '--inventory-interval=5s',
  '--host-poll-interval=500ms',
  '--orphan-reclaim-interval=5s',
  `--orphan-reclaim-claim-name-prefix=${claimPrefix}`,
];
