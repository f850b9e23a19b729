import type { Fault } from './fault.ts';
import { codesignKill, fleetWideRoll, noOpKickstart } from './incidents/agent-rollout.ts';
import { adoptionDuringSweep, hostWiped, reinstallWithoutWipe, strandedHosts } from './incidents/host-lifecycle.ts';
import { deadLoginwindow, macPoweredOff, sealedPassword } from './incidents/mac-failures.ts';
import { apiServerOutage, capiWithoutKubeconfig, leaderFrozen, scalewayOutage } from './incidents/outages.ts';
import { bakeBesideAgent, queueJobs, stuckPods } from './incidents/workloads.ts';

/** Every fault that can be played: first those of the agent and its roll, then those of Macs, then those of everything around. */
export const catalogue: readonly Fault[] = [
  fleetWideRoll,
  noOpKickstart,
  codesignKill,
  bakeBesideAgent,
  stuckPods,
  deadLoginwindow,
  sealedPassword,
  strandedHosts,
  adoptionDuringSweep,
  hostWiped,
  reinstallWithoutWipe,
  macPoweredOff,
  capiWithoutKubeconfig,
  scalewayOutage,
  apiServerOutage,
  leaderFrozen,
  queueJobs,
];
