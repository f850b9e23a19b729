import type { Ending } from '../journal/record.ts';
import { endReasons } from './ending.ts';
import type { Pod } from './snapshot.ts';

/** When the Pod has been active for as long as it may, as a kubelet counts: from `status.startTime`, which outlives the agent. */
export const deadlineOf = ({ spec, status }: Pod): number | undefined => {
  const started = Date.parse(status?.startTime ?? '');
  const seconds = spec?.activeDeadlineSeconds;
  return seconds === undefined || Number.isNaN(started) ? undefined : started + seconds * 1000;
};

export const deadlineMessage = ({ spec }: Pod): string =>
  `The Pod was active on the Node for longer than its activeDeadlineSeconds, ${spec?.activeDeadlineSeconds ?? 0} s.`;

/** By SIGTERM, as the exit code of a container says it. */
const terminatedCode = 143;

/** The run was ended by the deadline: never a success, whatever its guest said while it was shut down. */
export const endedByDeadline = (pod: Pod, ending: Ending): Ending => ({
  ...ending,
  exitCode: ending.exitCode === 0 ? terminatedCode : ending.exitCode,
  reason: endReasons.deadline,
  message: deadlineMessage(pod),
});
