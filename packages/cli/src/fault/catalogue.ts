import type { Fault } from './fault.ts';
import { codesignKill, fleetWideRoll, noOpKickstart } from './incidents/agent-rollout.ts';
import { adoptionDuringSweep, hostWiped, reinstallWithoutWipe, strandedHosts } from './incidents/host-lifecycle.ts';
import { deadLoginwindow, macPoweredOff, sealedPassword } from './incidents/mac-failures.ts';
import { apiServerOutage, capiWithoutKubeconfig, leaderFrozen, scalewayOutage } from './incidents/outages.ts';
import { bakeBesideAgent, queueJobs, stuckPods } from './incidents/workloads.ts';

/** All faults: of the agent and its rollout, of Macs, and of outages. */
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
