import type { MachineStatus } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { messageOf } from './conditions-of-bootstrap.ts';
import type { Drift } from './decision.ts';
import { waitsForIdle } from './memory.ts';
import { say, type Told } from './told.ts';

/** What stands between the Mac and what it shall have. */
export const hostUpToDate = (
  status: MachineStatus,
  { snapshot, decision, result }: Told,
): ConditionUpdate | undefined => {
  if (snapshot.machine?.deleting === true || status.initialization?.provisioned !== true) return undefined;
  const { desired } = snapshot;
  if (decision.kind === 'rest')
    return atRest(decision.drift, status, desired.kind === 'problem' ? desired.message : undefined);
  if (decision.kind === 'forgive') return say('HostUpToDate', 'WaitingForTurn');
  // The very first push leaves nothing to roll; what the agent says counts from then on.
  if (decision.kind === 'bootstrap') return say('HostUpToDate', 'UpToDate', without(status));
  if (decision.kind === 'roll' && result.kind === 'under way') return say('HostUpToDate', 'Rolling');
  if (result.kind !== 'worked') return undefined;
  if (decision.kind === 'roll') return afterPush(result.outcome, status, decision.hash);
  return decision.kind === 'roll back' ? say('HostUpToDate', 'RollRejected', rolledBack(result.outcome)) : undefined;
};

const atRest = (drift: Drift, status: MachineStatus, problem: string | undefined): ConditionUpdate | undefined => {
  switch (drift) {
    case 'up to date':
      // Only a restart ends this, and the next push sees whether there was one.
      return isSaid(status, 'RebootPending') ? undefined : say('HostUpToDate', 'UpToDate', without(status));
    case 'not reported':
      return say('HostUpToDate', 'NotReported');
    case 'no turn':
      return say('HostUpToDate', 'WaitingForTurn');
    case 'waiting for idle':
      return say('HostUpToDate', 'WaitingForIdle');
    case 'no plan':
      return say('HostUpToDate', 'NotReported', problem);
    case 'refused':
      return isSaid(status, 'RollRejected') ? undefined : say('HostUpToDate', 'RollRejected');
    case 'pausing':
    case 'no key':
      return undefined;
  }
};

const isSaid = ({ conditions }: MachineStatus, reason: string): boolean =>
  conditions?.some((condition) => condition.type === 'HostUpToDate' && condition.reason === reason) ?? false;

const afterPush = (outcome: WorkOutcome, status: MachineStatus, hash: string): ConditionUpdate | undefined => {
  switch (outcome.kind) {
    case 'aborted':
      return undefined;
    case 'locked':
      return say('HostUpToDate', 'Rolling', outcome.message);
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
      return say('HostUpToDate', 'RollUnreachable', outcome.message);
    case 'rejected':
      return refused(outcome.message, status, hash);
    case 'done':
      if (waitsForIdle(outcome)) return say('HostUpToDate', 'WaitingForIdle', messageOf(outcome));
      if (outcome.deferred.length > 0) return say('HostUpToDate', 'Rolling', messageOf(outcome));
      if (outcome.rebootPending) return say('HostUpToDate', 'RebootPending');
      if (outcome.summary === hash) return say('HostUpToDate', 'UpToDate');
      if (outcome.optionalFailures.length > 0) return say('HostUpToDate', 'UpToDate', without(status));
      return refused('The Mac has something else than was sent.', status, hash);
  }
};

const refused = (message: string, status: MachineStatus, hash: string): ConditionUpdate =>
  status.failedHostConfigHash === hash
    ? say('HostUpToDate', 'RollRejected', message)
    : say('HostUpToDate', 'Rolling', `Attempt ${status.tartKubeletUpdateAttempts ?? 1} was refused: ${message}`);

const without = ({ leftOut }: MachineStatus): string | undefined =>
  leftOut === undefined
    ? undefined
    : `The Mac has all but what may fail, and did; it is tried again later. ${leftOut.message}`;

const rolledBack = (outcome: WorkOutcome): string => {
  const why = 'The Node was not Ready in time with what was rolled out.';
  return outcome.kind === 'done'
    ? `${why} What it had before was put back.`
    : `${why} What it had before could not be put back: ${messageOf(outcome)}`;
};
