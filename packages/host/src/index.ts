/** Make a Mac ours over SSH: connect, push artifacts, and run one ordered list of steps against what the host reports. */
export { agentArguments, argumentsFile, argumentsHash } from './agent/job.ts';
export { rollBackAgent, type RollBackOutcome } from './agent/roll-back.ts';
export { type Artifact, describeArtifact, openArtifact } from './artifacts/artifact.ts';
export { pushArtifact, type PushOptions, type PushOutcome, pushProblem } from './artifacts/push-artifact.ts';
export { connect, type ConnectOptions } from './connection/connect.ts';
export type {
  CommandOutcome,
  ConnectOutcome,
  HostAddress,
  HostConnection,
  RemoteCommand,
} from './connection/connection.ts';
export { type KeyPair, newKeyPair, publicKeyOf } from './connection/ssh-keys.ts';
export { checkHost, type CheckOptions, type CheckOutcome, type StepReport } from './engine/check-host.ts';
export { convergeHost, type ConvergeOptions } from './engine/converge-host.ts';
export type { Deferred, HostEvent, HostOutcome, Interrupted, Progress, StepResult } from './engine/host-outcome.ts';
export { type Inventory, type InventoryOutcome, readInventory, rebootPending } from './engine/inventory.ts';
export type { Locked } from './engine/lock.ts';
export type { Mode } from './engine/plan.ts';
export type { PreflightFailure } from './engine/preflight.ts';
export { StepError, type StepFailure } from './engine/step-error.ts';
export { type Stamps, summaryHash, summaryOf, wantedStamps } from './engine/step-hash.ts';
export type {
  Agent,
  GhActionsRunner,
  HostSecrets,
  HostSpec,
  OnDemandSecret,
  OnDemandSecrets,
  Preparation,
  Tailscale,
  VmEgress,
} from './host-spec.ts';
export { hostSteps, preparationSteps } from './steps/index.ts';
export type { Step } from './steps/step.ts';
