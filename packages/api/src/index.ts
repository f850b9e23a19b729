/** What is on the wire: custom resources, names, and every word that users read in conditions and events. */

export * from './names.ts';
export { goldenHash, goldenLabelOf } from './golden-label.ts';
export { formatProviderID, parseProviderID, type ServerAddress } from './provider-id.ts';

// The kinds.
export { cluster, type ScalewayAppleSiliconCluster } from './kinds/cluster.ts';
export { type ExternalControlPlane, externalControlPlane } from './kinds/external-control-plane.ts';
export { kinds } from './kinds/index.ts';
export { isRolloutPaused, type MacFleet, macFleet, type MacFleetStatus } from './kinds/mac-fleet.ts';
export { type MacHost, macHost, type MacHostSpec, type MacHostStatus } from './kinds/mac-host.ts';
export {
  machine,
  type MachineSpec,
  attemptOutcomes,
  attemptTasks,
  type LastAttempt,
  type MachineStatus,
  machineTemplate,
  type ScalewayAppleSiliconMachine,
  type ScalewayAppleSiliconMachineTemplate,
} from './kinds/machine.ts';
export { type RunnerPool, runnerPool, type RunnerPoolStatus } from './kinds/runner-pool.ts';
export type { CustomResource, Kind, ObjectOf } from './schema/kind.ts';

// What they say.
export { conditionsByKind, type ConditionReason, type ConditionType, buildCondition } from './reasons/conditions.ts';
export type { ConditionDefinition } from './reasons/capi-conditions.ts';
export { buildDetailedEvent, buildEvent, type EventReason, events, type EventDefinition } from './reasons/events.ts';
export {
  formatRunnerVersion,
  type HostState,
  hostStateMeanings,
  type MachinePhase,
  machinePhaseMeanings,
  parseRunnerVersion,
  podEndMeanings,
  type PodEndReason,
  podWaitMeanings,
  type PodWaitReason,
  type ReleaseReason,
  releaseReasonMeanings,
  runnerBusyMeanings,
  type RunnerBusyReason,
} from './reasons/states.ts';
