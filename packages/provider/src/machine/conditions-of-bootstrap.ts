import type { ConditionReason, MachineStatus } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { isWhole } from './memory.ts';
import { say, type Told } from './told.ts';
import { waits } from './waits.ts';

type Reason = ConditionReason<'ScalewayAppleSiliconMachine', 'Bootstrapped'>;

/** How far making the Mac ready has come. What a failure said stays until the next try. */
export const bootstrapped = (
  status: MachineStatus,
  { snapshot, decision, result }: Told,
): ConditionUpdate | undefined => {
  if (snapshot.machine?.deleting === true) return undefined;
  if (status.initialization?.provisioned === true && decision.kind !== 're-register' && decision.kind !== 'bootstrap')
    return afterwards(snapshot.node);
  if (result.kind === 'no bootstrap') return say('Bootstrapped', result.reason, result.message);
  if (decision.kind === 're-register') return reregistered(decision.because, result);
  if (decision.kind === 'await key') return say('Bootstrapped', 'SSHKeyUnavailable', decision.message);
  if (decision.kind === 'reboot' || (decision.kind === 'back off' && decision.because === 'reboot'))
    return say('Bootstrapped', 'Rebooting');
  if (decision.kind !== 'bootstrap') return undefined;
  if (result.kind === 'worked') return failed(result.outcome, status);
  return result.kind === 'under way' ? say('Bootstrapped', 'Bootstrapping') : undefined;
};

const afterwards = (node: Told['snapshot']['node']): ConditionUpdate =>
  node.kind === 'missing' && node.forMs >= waits.nodeMissing
    ? say('Bootstrapped', 'NodeMissing')
    : say('Bootstrapped', 'Bootstrapped');

const reregistered = (because: string, result: Told['result']): ConditionUpdate => {
  const { outcome } = result.kind === 'worked' ? result : { outcome: undefined };
  const trouble = outcome === undefined || outcome.kind === 'done' ? undefined : messageOf(outcome);
  const then =
    trouble === undefined ? 'The agent is told to register again.' : `The agent could not be told: ${trouble}`;
  return say('Bootstrapped', 'NodeMissing', `${because} ${then}`);
};

const reasons = {
  unreachable: 'HostUnreachable',
  'host key changed': 'HostKeyMismatch',
  'not wiped': 'HostNotWiped',
  locked: 'HostLocked',
  rejected: 'BootstrapFailed',
} as const satisfies Partial<Record<WorkOutcome['kind'], Reason>>;

const failed = (outcome: WorkOutcome, { bootstrapAttempts = 0 }: MachineStatus): ConditionUpdate | undefined => {
  if (outcome.kind === 'aborted') return undefined;
  if (outcome.kind === 'done') {
    if (isWhole(outcome)) return say('Bootstrapped', 'Bootstrapped');
    return say('Bootstrapped', 'Bootstrapping', messageOf(outcome));
  }
  const attempt = bootstrapAttempts > 0 ? ` (attempt ${bootstrapAttempts})` : '';
  return say('Bootstrapped', reasons[outcome.kind], `${messageOf(outcome)}${attempt}`);
};

/** For people: what a push came to. */
export const messageOf = (outcome: WorkOutcome): string => {
  if (outcome.kind === 'aborted') return 'It was ended before it was done.';
  if (outcome.kind !== 'done') return outcome.message;
  if (outcome.deferred.length === 0) return 'Everything is done.';
  return `These steps wait: ${outcome.deferred.map(({ step, because }) => `${step} (${because})`).join(', ')}.`;
};
