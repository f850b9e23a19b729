/**
 * The decisions of the controllers, for `tartan explain`: pure functions, and the facts they use as far as Kubernetes objects show them.
 */

// Machines.
export { choiceFacts, hostFacts, hostRequirements } from '../machine/observe/host.ts';
export { clusterFacts } from '../machine/observe/cluster.ts';
export { decide as decideMachine } from '../machine/decide.ts';
export type { Decision as MachineDecision, Drift } from '../machine/decision.ts';
export { failuresOf } from '../machine/last-attempt.ts';
export { nodeFacts } from '../machine/observe/node.ts';
export type { HostFacts, Snapshot as MachineSnapshot } from '../machine/snapshot.ts';
export { listerOf, machineIndexes, macHostIndexes, nodeIndexes } from '../indexes.ts';
export { type CoreCluster, coreClusters } from '../core/kinds.ts';

// Hosts.
export { type ClaimBlocker, claimBlockedBy } from '../claim/choose-host.ts';
export { decide as decideHost, type Decision as HostDecision } from '../mac-host/decide.ts';
export { defaultLimits as usualHostLimits, type Snapshot as HostSnapshot } from '../mac-host/snapshot.ts';
export { holderFrom, observe as observeHost } from '../mac-host/observe.ts';
export { poolPrefixesOf } from '../inventory/pool-prefixes.ts';
export { stateOf as hostStateOf } from '../mac-host/snapshot.ts';

// Stranded hosts.
export { isStranded, ownerOf, strandedFacts } from '../sweep/act.ts';
export { type ReclaimPolicy, strandedVerdict, type StrandedVerdict } from '../sweep/decide.ts';

// Fleets.
export { readyCondition, rollingCondition, stalledCondition } from '../fleet/conditions.ts';
export {
  decide as decideFleet,
  type Decision as FleetDecision,
  type RollState,
  type Snapshot as FleetSnapshot,
} from '../fleet/decide.ts';
export { defaultLimits as fleetLimits } from '../fleet/judge-turn.ts';
export { findTurn, fleetNameOf } from '../fleet/turns.ts';
export { fleetFacts, machineFacts } from '../fleet/observe.ts';
export { countsOf } from '../fleet/status.ts';
