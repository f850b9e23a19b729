/**
 * What the controllers decide by, for whoever explains it to people (`tartan explain`): pure functions, and the facts they rest on as far
 * as objects of Kubernetes show them.
 */

// A machine.
export { choose, wantedOf } from '../machine/choose.ts';
export { clusterFacts } from '../machine/cluster-facts.ts';
export { decide as decideMachine } from '../machine/decide.ts';
export type { Decision as MachineDecision, Drift } from '../machine/decision.ts';
export { hostFacts } from '../machine/host-facts.ts';
export { nodeFacts } from '../machine/node-facts.ts';
export type { HostFacts, Snapshot as MachineSnapshot } from '../machine/snapshot.ts';
export { type CoreCluster, coreClusters } from '../cluster/core-cluster.ts';

// A Mac.
export { type Obstacle, obstacleTo } from '../claim/obstacle.ts';
export { decide as decideHost } from '../mac-host/decide.ts';
export type { Decision as HostDecision } from '../mac-host/decision.ts';
export { usualLimits as usualHostLimits } from '../mac-host/limits.ts';
export { judgeHolder, observe as observeHost } from '../mac-host/observe.ts';
export type { Snapshot as HostSnapshot } from '../mac-host/snapshot.ts';
export { stateOf as hostStateOf } from '../mac-host/state.ts';

// A Mac that nobody knows.
export { isStranded, strandedFacts } from '../sweep/observe.ts';
export { ownerOf } from '../sweep/owner.ts';
export { type ReclaimPolicy, strandedVerdict, type StrandedVerdict } from '../sweep/verdict.ts';

// A fleet.
export { rollingOf, stalledOf } from '../fleet/conditions.ts';
export { readyOf } from '../fleet/ready.ts';
export {
  decide as decideFleet,
  type Decision as FleetDecision,
  type RollState,
  type Snapshot as FleetSnapshot,
} from '../fleet/decide.ts';
export { fleetNameOf } from '../fleet/fleet-name.ts';
export { fleetFacts, machineFacts } from '../fleet/observe.ts';
export { countsOf } from '../fleet/status.ts';
export { findTurn } from '../fleet/turn.ts';
