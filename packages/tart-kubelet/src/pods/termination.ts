import { constants } from 'node:os';
import type { PodEndReason } from '@tartan/api';
import { backoffMs } from '@tartan/kube';
import type { ExitCause } from '@tartan/tart';
import type { Termination, VmRecord } from '../journal/journal.ts';
import type { LastRun, Pod } from './snapshot.ts';

/** Other programs match these by value. `exited` with 0 means that there was no report, not that all was well. */
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

/** Without a guest report: from tart's output and exit. Only a guest that shut itself down may count as success (INC-409). */
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
      return failed(exitCode || 1, ending.message);
    case 'killed':
      return failed(signalCode(ending.signal), `tart was ended by ${ending.signal}.`);
    case 'unknown':
      return exitCode === 0
        ? { exitCode: 0, reason: terminationReasons.exited, message: 'tart exited, and the guest reported no result.' }
        : failed(1, 'The end of the virtual machine was not observed. Perhaps the Mac was restarted.');
  }
};

const startTimeOf = (record: VmRecord | undefined): number | undefined => {
  if (record?.state.kind === 'running') return record.state.since;
  return record?.state.kind === 'starting' ? record.state.at : undefined;
};

/** How a run ended. The guest's report has priority; its time is untrusted, so it is limited to between the start and now (INC-33). */
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

/** The Pod's activeDeadlineSeconds, counted as the kubelet does: from `status.startTime`, which survives the agent. */
export const deadlineOf = ({ spec, status }: Pod): number | undefined => {
  const started = Date.parse(status?.startTime ?? '');
  const seconds = spec?.activeDeadlineSeconds;
  return seconds === undefined || Number.isNaN(started) ? undefined : started + seconds * 1000;
};

export const deadlineMessage = ({ spec }: Pod): string =>
  `The Pod was active on the Node for longer than its activeDeadlineSeconds, ${spec?.activeDeadlineSeconds ?? 0} s.`;

/** Exit code of a container ended by SIGTERM. */
const sigtermExitCode = 143;

/** The deadline ended the run: never a success, whatever the guest reported during its shutdown. */
export const deadlineTermination = (pod: Pod, ending: Termination): Termination => ({
  ...ending,
  exitCode: ending.exitCode === 0 ? sigtermExitCode : ending.exitCode,
  reason: terminationReasons.deadline,
  message: deadlineMessage(pod),
});

/** The kubelet's values, including the reset after a run of 10 min. */
const restartBackoff = { baseMs: 10_000, maxMs: 5 * 60_000 };
const backoffResetMs = 10 * 60_000;

/** Whether the container restarts. The default policy is `Always`, as in Kubernetes. */
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

/** When the next run may start. The first restart is immediate, as in Kubernetes. */
export const restartAt = ({ run }: Pick<VmRecord, 'run'>, { startedAt, finishedAt }: Termination): number => {
  const ranWell = startedAt !== undefined && finishedAt - startedAt >= backoffResetMs;
  if (run === 0 || ranWell) return finishedAt;
  return finishedAt + backoffMs(restartBackoff, run);
};
