/** Provisions a Mac over SSH: connects, pushes artifacts, and runs one ordered list of steps against the inventory of the host. */
export { agentArguments, argumentsHash } from './agent/job.ts';
export { rollBackAgent, type RollBackOutcome } from './agent/roll-back.ts';
export { type Artifact, describeArtifact, openArtifact } from './artifacts/artifact.ts';
export { connect } from './connection/connect.ts';
export type { ConnectOutcome, HostAddress, HostConnection } from './connection/connection.ts';
export { type KeyPair, newKeyPair, publicKeyOf } from './connection/ssh-keys.ts';
export { checkHost, type CheckOutcome, type StepReport } from './engine/check-host.ts';
export { convergeHost, type ConvergeOptions } from './engine/converge-host.ts';
export type { HostEvent, HostOutcome, Interrupted } from './engine/host-outcome.ts';
export { type Inventory, readInventory } from './engine/inventory.ts';
export type { Locked } from './engine/lock.ts';
export { StepError, type StepFailure } from './engine/step-error.ts';
export { type Stamps, summaryHash, summaryOf, wantedStamps } from './engine/step-hash.ts';
export type {
  Agent,
  GhActionsRunner,
  HostSecrets,
  HostSpec,
  OnDemandSecrets,
  Tailscale,
  VmEgress,
} from './host-spec.ts';
export { hostSteps, preparationSteps } from './steps/index.ts';
