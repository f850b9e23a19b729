/** Drives the `tart` command line: virtual machines, images, and the processes they run in. */
export { type AdoptOptions, adoptVm } from './adopt.ts';
export type { Spawn } from './call.ts';
export { type Collected, collectExec } from './collect.ts';
export { createTart, type Deadlines, type TartOptions, tartHome } from './create-tart.ts';
export type { VmDetails, VmEntry, VmList, VmState } from './decode.ts';
export type { ExecEnd, ExecOptions, ExecSession } from './exec.ts';
export {
  createProcessTable,
  type HostProcess,
  isSameProcess,
  type ProcessIdentity,
  type ProcessTable,
} from './processes.ts';
export { createProcessUsage, type ProcessUsage, type ReadProcessUsage } from './process-usage.ts';
export type { PullProgress } from './pull-progress.ts';
export { createRedact, type Redact } from './redact.ts';
export type { RunningVm, VmExit } from './run.ts';
export type { RunOptions, Share } from './run-arguments.ts';
export { type RunEnding, readLogTail, runEnding } from './run-ending.ts';
export type { CallControl, PullOptions, RegistryCredentials, Tart, VmChanges } from './tart.ts';
export { isTartError, TartError, type TartReason } from './tart-error.ts';
export { type TartProcess, tartProcesses, type VmProcess, vmProcesses } from './tart-processes.ts';
export type { TerminalSize } from './terminal.ts';
