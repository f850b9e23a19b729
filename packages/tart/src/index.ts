/** Drives the `tart` command line: VMs, images, and their processes. */
export {
  type ExitCause,
  exitCause,
  pollExit,
  readLogTail,
  type VmExit,
} from './run.ts';
export type { Spawn } from './call.ts';
export {
  collectOutput,
  type ExecResult,
  type ExecSession,
  type TerminalSize,
} from './exec.ts';
export { createTart, tartHome } from './create-tart.ts';
export type { VmEntry, VmState } from './decode.ts';
export {
  createProcessTable,
  createProcessUsage,
  type HostProcess,
  isSameProcess,
  type ProcessIdentity,
  type ProcessTable,
  type ReadProcessUsage,
  tartProcesses,
  type VmProcess,
  vmProcesses,
} from './processes.ts';
export type { PullProgress } from './pull-progress.ts';
export { redact } from './redact.ts';
export type { Share } from './arguments.ts';
export type { RegistryCredentials, Tart } from './tart.ts';
export { isTartError, TartError, type TartReason } from './tart-error.ts';
