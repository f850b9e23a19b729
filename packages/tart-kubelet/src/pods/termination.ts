import { constants } from 'node:os';
import type { PodEndReason } from '@tartan/api';
import { backoffMs } from '@tartan/kube';
import type { ExitCause } from '@tartan/tart';
import type { Termination, VmRecord } from '../journal/journal.ts';
import type { LastRun, Pod } from './snapshot.ts';

/** Other programs match these by value. `exited` with 0 means that nobody reported anything, not that all was well. */
export const terminationReasons = {
  completed: 'Completed',
  error: 'Error',
  exited: 'TartRunExited',
  failed: 'TartRunFailed',
  deadline: 'DeadlineExceeded',
} as const satisfies Record<string, PodEndReason>;

const signalCode = (signal: string): number => {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? 1 : 128 + number;
};

/** Without a word of the guest: what tart and its process say. Only a guest that shut itself down may pass for success (INC-409). */
const terminationByProcess = (
  ending: ExitCause,
  exitCode: number | undefined,
): Pick<Termination, 'exitCode' | 'reason'> & { message: string } => {
  const failed = (code: number, message: string) => ({ exitCode: code, reason: terminationReasons.failed, message });
  switch (ending.kind) {
    case 'halted':
      return {
        exitCode: 0,
        reason: terminationReasons.exited,
        message: 'The guest shut itself down and reported no result.',
      };
    case 'stopped':
      return failed(1, 'The power of the virtual machine was cut.');
    case 'crashed':
      return failed(1, ending.message);
    case 'failed':
      return failed(exitCode === undefined || exitCode === 0 ? 1 : exitCode, ending.message);
    case 'killed':
      return failed(signalCode(ending.signal), `tart was ended by ${ending.signal}.`);
    case 'unknown':
      return exitCode === 0
        ? { exitCode: 0, reason: terminationReasons.exited, message: 'tart ended, and nobody reported a result.' }
        : failed(exitCode ?? 1, 'The virtual machine went away and nobody saw how. Perhaps the Mac was restarted.');
  }
};

const startTimeOf = (record: VmRecord | undefined): number | undefined => {
  if (record?.state.kind === 'running') return record.state.since;
  return record?.state.kind === 'starting' ? record.state.at : undefined;
};

/** How a run ended. The guest's own result comes first; its time counts only between the start and now, as it is the guest's (INC-33). */
export const terminationOf = (record: VmRecord | undefined, lastRun: LastRun, now: number): Termination => {
  const startedAt = startTimeOf(record);
  const { report, exitedAt } = lastRun;
  const latest = Math.max(now, startedAt ?? 0);
  const reportedAt = exitedAt ?? report?.at ?? now;
  const finishedAt = Math.trunc(Math.min(Math.max(reportedAt, startedAt ?? reportedAt), latest));
  const times = { ...(startedAt !== undefined && { startedAt }), finishedAt };
  if (report === undefined) return { ...terminationByProcess(lastRun.ending, lastRun.exitCode), ...times };
  return {
    exitCode: report.code,
    reason: report.code === 0 ? terminationReasons.completed : terminationReasons.error,
    ...times,
  };
};

/** When the Pod has been active for as long as it may, as a kubelet counts: from `status.startTime`, which outlives the agent. */
export const deadlineOf = ({ spec, status }: Pod): number | undefined => {
  const started = Date.parse(status?.startTime ?? '');
  const seconds = spec?.activeDeadlineSeconds;
  return seconds === undefined || Number.isNaN(started) ? undefined : started + seconds * 1000;
};

export const deadlineMessage = ({ spec }: Pod): string =>
  `The Pod was active on the Node for longer than its activeDeadlineSeconds, ${spec?.activeDeadlineSeconds ?? 0} s.`;

/** By SIGTERM, as the exit code of a container says it. */
const sigtermExitCode = 143;

/** The run was ended by the deadline: never a success, whatever its guest said while it was shut down. */
export const deadlineTermination = (pod: Pod, ending: Termination): Termination => ({
  ...ending,
  exitCode: ending.exitCode === 0 ? sigtermExitCode : ending.exitCode,
  reason: terminationReasons.deadline,
  message: deadlineMessage(pod),
});

/** As the kubelet, also that it begins anew after a run of 10 min. */
const restartBackoff = { baseMs: 10_000, maxMs: 5 * 60_000 };
const backoffResetMs = 10 * 60_000;

/** Whether the container is to run again. A policy that is not there is `Always`, as in Kubernetes. */
export const shouldRestart = (pod: Pod, ending: Termination): boolean => {
  if (ending.reason === terminationReasons.deadline) return false;
  switch (pod.spec?.restartPolicy ?? 'Always') {
    case 'Always':
      return true;
    case 'OnFailure':
      return ending.exitCode !== 0;
    case 'Never':
      return false;
  }
};

/** When the next run may begin. The first restart is at once, as in Kubernetes. */
export const restartAt = ({ run }: Pick<VmRecord, 'run'>, { startedAt, finishedAt }: Termination): number => {
  const ranWell = startedAt !== undefined && finishedAt - startedAt >= backoffResetMs;
  if (run === 0 || ranWell) return finishedAt;
  return finishedAt + backoffMs(restartBackoff, run);
};
