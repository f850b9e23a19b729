/** What is on the wire: custom resources, names, and every word that users read in conditions and events. */

export * from './names.ts';
export { goldenHash, goldenLabelOf } from './golden-label.ts';
export { formatProviderID, parseProviderID, type ServerAddress } from './provider-id.ts';

// The kinds.
export { cluster, type ScalewayAppleSiliconCluster } from './kinds/cluster.ts';
export { type ExternalControlPlane, externalControlPlane } from './kinds/external-control-plane.ts';
export { kinds } from './kinds/index.ts';
export { isPaused, type MacFleet, macFleet, type MacFleetStatus } from './kinds/mac-fleet.ts';
export { type MacHost, macHost, type MacHostSpec, type MacHostStatus } from './kinds/mac-host.ts';
export { machine, type MachineSpec, type MachineStatus, type ScalewayAppleSiliconMachine } from './kinds/machine.ts';
export { machineTemplate, type ScalewayAppleSiliconMachineTemplate } from './kinds/machine-template.ts';
export { type RunnerPool, runnerPool, type RunnerPoolStatus } from './kinds/runner-pool.ts';
export type { CustomResource, Kind, ObjectOf } from './schema/kind.ts';

// What they say.
export { conditionsByKind, type ConditionReason, type ConditionType, say } from './reasons/conditions.ts';
export type { ConditionWords } from './reasons/words.ts';
export { type EventReason, events, type EventWords } from './reasons/events.ts';
export {
  podEndMeanings,
  type PodEndReason,
  podWaitMeanings,
  type PodWaitReason,
  runnerBusyMeanings,
  readRunnerVersion,
  type RunnerBusyReason,
  sayRunnerVersion,
} from './reasons/pods.ts';
export {
  type HostState,
  hostStateMeanings,
  type MachinePhase,
  machinePhaseMeanings,
  type ReleaseReason,
  releaseReasonMeanings,
} from './reasons/phases.ts';
