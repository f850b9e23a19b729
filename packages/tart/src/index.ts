/** Drives the `tart` command line: virtual machines, images, and the processes they run in. */
export {
  type ExitCause,
  exitCause,
  pollExit,
  readLogTail,
  type RunningVm,
  type VmExit,
} from './run.ts';
export type { Spawn } from './call.ts';
export {
  collectOutput,
  type ExecOptions,
  type ExecOutput,
  type ExecResult,
  type ExecSession,
  type TerminalSize,
} from './exec.ts';
export { createTart, type Deadlines, type TartOptions, tartHome } from './create-tart.ts';
export type { VmDetails, VmEntry, VmState } from './decode.ts';
export {
  createProcessTable,
  createProcessUsage,
  type HostProcess,
  isSameProcess,
  type ProcessIdentity,
  type ProcessTable,
  type ProcessUsage,
  type ReadProcessUsage,
  type TartProcess,
  tartProcesses,
  type VmProcess,
  vmProcesses,
} from './processes.ts';
export type { PullProgress } from './pull-progress.ts';
export { redact } from './redact.ts';
export type { RunOptions, Share } from './arguments.ts';
export type { CallControl, PullOptions, RegistryCredentials, Tart, VmChanges } from './tart.ts';
export { isTartError, TartError, type TartReason } from './tart-error.ts';
