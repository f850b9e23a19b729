import type { MachineStatus } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { omitUndefined } from '../../omit-undefined.ts';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import { attemptOutcome, failuresOf, isComplete, outcomeMessage, withAttempt } from '../last-attempt.ts';
import type { Policy } from '../snapshot.ts';

/** What a reconcile records for later ones. Losing it only causes a retry. */

/** The status without what belongs to one Mac, so that the next one is not judged by it. */
export const forgetHost = ({ phase, initialization, observedGeneration, conditions }: MachineStatus): MachineStatus =>
  omitUndefined({ ready: false, phase, initialization, observedGeneration, conditions });

export const afterBootstrap = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { joinVersion, hash, now }: { joinVersion: string; hash: string; now: number },
): MachineStatus => {
  if (outcome.kind === 'aborted') return status;
  const result = { task: 'Bootstrap', outcome: attemptOutcome(outcome), message: messageOf(outcome) } as const;
  if (outcome.kind === 'done' && isComplete(outcome))
    return {
      ...withAppliedConfig(withAttempt(status, result, now, 0), outcome, hash, now),
      initialization: { provisioned: true },
      joinVersion,
    };
  // A Mac that was not wiped is released at once: there is nothing to count.
  const counts = result.outcome !== 'WaitingForIdle' && result.outcome !== 'HostNotWiped';
  return withAttempt(status, result, now, failuresOf(status, 'Bootstrap') + (counts ? 1 : 0));
};

/** Empty after success. */
const messageOf = (outcome: WorkOutcome): string => (isComplete(outcome) ? '' : outcomeMessage(outcome));

/** Records what the Mac has now, and the optional steps that failed. */
const withAppliedConfig = (
  status: MachineStatus,
  outcome: DoneOutcome,
  desired: string,
  now: number,
): MachineStatus => {
  const { summary: actual, optionalFailures } = outcome;
  const message = optionalFailures.join('; ').slice(0, maxMessageLength);
  const leftOut = isComplete(outcome) && actual !== desired && optionalFailures.length > 0;
  return omitUndefined({
    ...status,
    hostConfigHash: actual,
    leftOut: leftOut ? { desired, actual, message, at: timestamp(now) } : undefined,
  });
};

type DoneOutcome = Extract<WorkOutcome, { kind: 'done' }>;

/** Limit of the field. */
const maxMessageLength = 1024;

/** Only a refusal by the Mac itself counts against what was sent (INC-13). */
export const afterRoll = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { hash, now, policy }: { hash: string; now: number; policy: Policy },
): MachineStatus => {
  switch (outcome.kind) {
    case 'done':
      if (isComplete(outcome) && outcome.summary !== hash && outcome.optionalFailures.length === 0)
        return {
          ...withRollRejection(status, 'The Mac has something else than was sent.', { hash, now, policy }),
          hostConfigHash: outcome.summary,
        };
      return withAppliedConfig(
        withAttempt(status, { task: 'Update', outcome: attemptOutcome(outcome), message: messageOf(outcome) }, now, 0),
        outcome,
        hash,
        now,
      );
    case 'rejected':
      return withRollRejection(status, outcome.message, { hash, now, policy });
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
    case 'locked':
      return withAttempt(status, { task: 'Update', outcome: attemptOutcome(outcome), message: outcome.message }, now);
    case 'aborted':
      return status;
  }
};

const withRollRejection = (
  status: MachineStatus,
  message: string,
  { hash, now, policy }: { hash: string; now: number; policy: Policy },
): MachineStatus => {
  const attempts = failuresOf(status, 'Update') + 1;
  const givenUp = policy.updateGiveUpAfter !== undefined && attempts >= policy.updateGiveUpAfter;
  return {
    ...withAttempt(status, { task: 'Update', outcome: 'Rejected', message }, now, attempts),
    lastUpdateFailureTime: timestamp(now),
    ...(givenUp && { failedHostConfigHash: hash }),
  };
};

/** The rolled back hash counts as refused, even if the Mac refused the roll back: it can do no more. */
export const afterRollBack = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { hash, now }: { hash: string; now: number },
): MachineStatus => {
  if (outcome.kind === 'aborted') return status;
  const message = rollBackMessage(outcome);
  const next = withAttempt(status, { task: 'RollBack', outcome: attemptOutcome(outcome), message }, now);
  if (outcome.kind !== 'done' && outcome.kind !== 'rejected') return next;
  return {
    ...next,
    failedHostConfigHash: hash,
    lastUpdateFailureTime: timestamp(now),
    ...(outcome.kind === 'done' && { hostConfigHash: outcome.summary }),
  };
};

const rollBackMessage = (outcome: WorkOutcome): string => {
  const why = 'The Node was not Ready in time with what was rolled out.';
  return outcome.kind === 'done'
    ? `${why} What it had before was put back.`
    : `${why} What it had before could not be put back: ${outcomeMessage(outcome)}`;
};

/** The next update starts anew. */
export const withoutRollFailure = ({
  failedHostConfigHash: _hash,
  tartKubeletUpdateAttempts: _attempts,
  lastAttempt: _last,
  ...rest
}: MachineStatus): MachineStatus => rest;

/**
 * A Mac with a certificate for a token has that token, even if the outcome of the push is unknown. If the status still named the earlier
 * token, a roll would restore that one without its secret half: the Mac would refuse, and the fleet would stop.
 */
export const withoutToken = (status: MachineStatus, certificateExpires: number | undefined): MachineStatus => {
  const { joinTokenID, joinTokenExpires: _expires, ...rest } = status;
  if (certificateExpires === undefined) return rest;
  const joinVersion = joinTokenID ?? status.joinVersion;
  return omitUndefined({ ...rest, joinVersion, certificateExpires: timestamp(certificateExpires) });
};
