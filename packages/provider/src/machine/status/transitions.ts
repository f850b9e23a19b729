import type { MachineStatus } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import type { Policy } from '../snapshot.ts';

/** What a pass writes down of what it did, for those that come after it. Safe to lose: then something is tried once more. */

/** All that belongs to one Mac goes with it, or the next one would be judged by it. */
export const forgetHost = (status: MachineStatus): MachineStatus => {
  const { phase, initialization, observedGeneration, conditions } = status;
  return {
    ready: false,
    ...(phase && { phase }),
    ...(initialization && { initialization }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(conditions && { conditions: conditions.filter(({ type }) => !hostConditions.has(type)) }),
  };
};

const hostConditions: ReadonlySet<string> = new Set(['Bootstrapped', 'NodeReady', 'HostUpToDate']);

/** Whether everything was done that there was to do: nothing less makes a machine provisioned. */
export const isComplete = (outcome: WorkOutcome): boolean => outcome.kind === 'done' && outcome.deferred.length === 0;

/** Steps wait for virtual machines to end. */
export const waitsForIdle = (outcome: WorkOutcome): boolean =>
  outcome.kind === 'done' && outcome.deferred.some(({ because }) => because === 'the host is not idle');

export const afterBootstrap = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { joinVersion, hash, now }: { joinVersion: string; hash: string; now: number },
): MachineStatus => {
  switch (outcome.kind) {
    case 'done': {
      if (waitsForIdle(outcome)) return status;
      if (!isComplete(outcome)) return withBootstrapFailure(status, now);
      const { bootstrapAttempts: _attempts, lastBootstrapFailureTime: _time, ...rest } = status;
      return { ...withAppliedConfig(rest, outcome, hash, now), initialization: { provisioned: true }, joinVersion };
    }
    case 'aborted':
    // The Mac goes back at once: there is nothing to count.
    case 'not wiped':
      return status;
    case 'unreachable':
    case 'host key changed':
    case 'locked':
    case 'rejected':
      return withBootstrapFailure(status, now);
  }
};

/** What the Mac has now, and what of it was left out because it may fail. */
const withAppliedConfig = (
  status: MachineStatus,
  outcome: DoneOutcome,
  desired: string,
  now: number,
): MachineStatus => {
  const { leftOut: _before, ...rest } = status;
  const { summary: actual, optionalFailures } = outcome;
  const message = optionalFailures.join('; ').slice(0, maxMessageLength);
  const leftOut = isComplete(outcome) && actual !== desired && optionalFailures.length > 0;
  return {
    ...rest,
    hostConfigHash: actual,
    ...(leftOut && { leftOut: { desired, actual, message, at: timestamp(now) } }),
  };
};

type DoneOutcome = Extract<WorkOutcome, { kind: 'done' }>;

/** Of the field. */
const maxMessageLength = 1024;

const withBootstrapFailure = (status: MachineStatus, now: number): MachineStatus => ({
  ...status,
  bootstrapAttempts: (status.bootstrapAttempts ?? 0) + 1,
  lastBootstrapFailureTime: timestamp(now),
});

/** Only what the Mac itself refused counts against what was sent (INC-13). */
export const afterRoll = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { hash, now, policy }: { hash: string; now: number; policy: Policy },
): MachineStatus => {
  switch (outcome.kind) {
    case 'done': {
      // The Mac says that all is done, and has something else than was sent.
      if (isComplete(outcome) && outcome.summary !== hash && outcome.optionalFailures.length === 0)
        return { ...withRollRejection(status, hash, now, policy), hostConfigHash: outcome.summary };
      const { tartKubeletUpdateAttempts: _attempts, ...rest } = status;
      return withAppliedConfig(rest, outcome, hash, now);
    }
    case 'rejected':
      return withRollRejection(status, hash, now, policy);
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
    case 'locked':
    case 'aborted':
      return status;
  }
};

const withRollRejection = (status: MachineStatus, hash: string, now: number, policy: Policy): MachineStatus => {
  const attempts = (status.tartKubeletUpdateAttempts ?? 0) + 1;
  const givenUp = policy.updateGiveUpAfter !== undefined && attempts >= policy.updateGiveUpAfter;
  return {
    ...status,
    tartKubeletUpdateAttempts: attempts,
    lastUpdateFailureTime: timestamp(now),
    ...(givenUp && { failedHostConfigHash: hash }),
  };
};

/** What was put back is remembered as refused, also when putting it back was: the Mac can do no more. */
export const afterRollBack = (
  status: MachineStatus,
  outcome: WorkOutcome,
  { hash, now }: { hash: string; now: number },
): MachineStatus => {
  if (outcome.kind !== 'done' && outcome.kind !== 'rejected') return status;
  return {
    ...status,
    failedHostConfigHash: hash,
    lastUpdateFailureTime: timestamp(now),
    ...(outcome.kind === 'done' && { hostConfigHash: outcome.summary }),
  };
};

export const withoutRollFailure = (status: MachineStatus): MachineStatus => {
  const { failedHostConfigHash: _hash, tartKubeletUpdateAttempts: _attempts, ...rest } = status;
  return rest;
};

/**
 * A Mac with a certificate for a token has got that token, also when nobody heard how the push ended that brought it. Taken for one with
 * the token before, it would be rolled back to that, without the secret half of it: it refuses, and stops its fleet.
 */
export const withoutToken = (status: MachineStatus, certificateExpires: number | undefined): MachineStatus => {
  const { joinTokenID, joinTokenExpires: _expires, ...rest } = status;
  if (certificateExpires === undefined) return rest;
  const joinVersion = joinTokenID ?? status.joinVersion;
  return { ...rest, ...(joinVersion && { joinVersion }), certificateExpires: timestamp(certificateExpires) };
};
