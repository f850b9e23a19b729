/** Make a Mac ours over SSH: connect, push artifacts, and run one ordered list of steps against what the host reports. */
export { agentArguments, argumentsFile, argumentsHash } from './agent/arguments.ts';
export { rollBackAgent, type RollBackOutcome } from './agent/roll-back.ts';
export type { Artifact } from './artifacts/artifact.ts';
export { artifactOf } from './artifacts/artifact-of.ts';
export { openArtifact } from './artifacts/open-artifact.ts';
export { type PushOptions, pushArtifact } from './artifacts/push-artifact.ts';
export { type PushOutcome, pushProblem } from './artifacts/push-outcome.ts';
export { connect, type ConnectOptions } from './connection/connect.ts';
export type {
  CommandOutcome,
  ConnectOutcome,
  HostAddress,
  HostConnection,
  RemoteCommand,
} from './connection/connection.ts';
export { type KeyPair, newKeyPair, publicKeyOf } from './connection/key-pair.ts';
export { checkHost, type CheckOptions, type CheckOutcome, type StepReport } from './engine/check-host.ts';
export { convergeHost, type ConvergeOptions } from './engine/converge-host.ts';
export type { CutShort } from './engine/cut-short.ts';
export type { Deferred, HostEvent, HostOutcome, StepResult, Work } from './engine/host-outcome.ts';
export { type Inventory, type InventoryOutcome, readInventory, rebootPending } from './engine/inventory.ts';
export type { Locked } from './engine/lock.ts';
export type { Mode } from './engine/plan.ts';
export type { Objection } from './engine/pre-flight.ts';
export { StepError, type StepFailure } from './engine/step-error.ts';
export { summaryHash, wantedStamps } from './engine/step-hash.ts';
export { type Stamps, summaryOf } from './engine/summary.ts';
export type {
  Agent,
  GhActionsRunner,
  HostSecrets,
  HostSpec,
  LateSecret,
  LateSecrets,
  Preparation,
  Tailscale,
  VmEgress,
} from './spec/host-spec.ts';
export { hostSteps, preparationSteps } from './steps/index.ts';
export type { Step } from './steps/step.ts';
