import type { Fault } from './fault.ts';
import { adoptionDuringSweep } from './incidents/adoption-during-sweep.ts';
import { apiServerOutage } from './incidents/api-server-outage.ts';
import { bakeBesideAgent } from './incidents/bake-beside-agent.ts';
import { capiWithoutKubeconfig } from './incidents/capi-without-kubeconfig.ts';
import { codesignKill } from './incidents/codesign-kill.ts';
import { deadLoginwindow } from './incidents/dead-loginwindow.ts';
import { fleetWideRoll } from './incidents/fleet-wide-roll.ts';
import { hostWiped } from './incidents/host-wiped.ts';
import { leaderFrozen } from './incidents/leader-frozen.ts';
import { macPoweredOff } from './incidents/mac-powered-off.ts';
import { noOpKickstart } from './incidents/no-op-kickstart.ts';
import { queueJobs } from './incidents/queue-jobs.ts';
import { reinstallWithoutWipe } from './incidents/reinstall-without-wipe.ts';
import { scalewayOutage } from './incidents/scaleway-outage.ts';
import { sealedPassword } from './incidents/sealed-password.ts';
import { strandedHosts } from './incidents/stranded-hosts.ts';
import { stuckPods } from './incidents/stuck-pods.ts';

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
