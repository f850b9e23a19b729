import { constants } from 'node:os';
import type { PodEndReason } from '@tartan/api';
import type { RunEnding } from '@tartan/tart';
import type { Ending, VmRecord } from '../journal/record.ts';
import type { Remains } from './snapshot.ts';

/** Other programs match these by value. `exited` with 0 means that nobody reported anything, not that all was well. */
export const endReasons = {
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

/** Without a word of the guest: what tart and its process say. Only a guest that shut itself down may pass for success (G8, G9). */
const byProcess = (
  ending: RunEnding,
  exitCode: number | undefined,
): Pick<Ending, 'exitCode' | 'reason'> & { message: string } => {
  const failed = (code: number, message: string) => ({ exitCode: code, reason: endReasons.failed, message });
  switch (ending.kind) {
    case 'halted':
      return { exitCode: 0, reason: endReasons.exited, message: 'The guest shut itself down and reported no result.' };
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
        ? { exitCode: 0, reason: endReasons.exited, message: 'tart ended, and nobody reported a result.' }
        : failed(exitCode ?? 1, 'The virtual machine went away and nobody saw how. Perhaps the Mac was restarted.');
  }
};

const startOf = (record: VmRecord | undefined): number | undefined => {
  if (record?.state.kind === 'running') return record.state.since;
  return record?.state.kind === 'starting' ? record.state.at : undefined;
};

/** How a run ended. The guest's own result comes first; its time counts only between the start and now, as it is the guest's (INC-33). */
export const endingOf = (record: VmRecord | undefined, remains: Remains, now: number): Ending => {
  const startedAt = startOf(record);
  const { report, exitedAt } = remains;
  const latest = Math.max(now, startedAt ?? 0);
  const told = exitedAt ?? report?.at ?? now;
  const finishedAt = Math.trunc(Math.min(Math.max(told, startedAt ?? told), latest));
  const times = { ...(startedAt !== undefined && { startedAt }), finishedAt };
  if (report === undefined) return { ...byProcess(remains.ending, remains.exitCode), ...times };
  return { exitCode: report.code, reason: report.code === 0 ? endReasons.completed : endReasons.error, ...times };
};
