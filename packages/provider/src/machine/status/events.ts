import { buildDetailedEvent, buildEvent, type EventReason, type MachineStatus } from '@tartan/api';
import { type EventInput, getCondition } from '@tartan/kube';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import type { CleanUpReason, Decision } from '../decision.ts';
import { isComplete, outcomeMessage } from '../last-attempt.ts';
import type { ReconcileResult } from '../status.ts';

/** The events of a pass. What lasts is a condition; its event is sent when the condition changes. */
export const eventsOf = (
  reconciled: ReconcileResult,
  before: MachineStatus,
  after: MachineStatus,
): readonly EventInput[] => [...actionEvents(reconciled), ...conditionEvents(before, after)];

const eventByDecision: Partial<Record<Decision['kind'], EventReason>> = {
  take: 'Adopted',
  reboot: 'RebootingForRecovery',
  'release failed host': 'BootstrapExhausted',
  'clear refusal': 'AgentRollRetried',
};

const eventByCleanUpReason: Readonly<Record<CleanUpReason, EventReason>> = {
  'no host': 'Released',
  released: 'Released',
  'host gone': 'Released',
  skipped: 'ReleaseSkipped',
  'not wiped': 'ReleasedNotWiped',
  abandoned: 'HostAbandoned',
};

const eventWithRunnerLeft = (reason: EventReason, runnerLeft: string | undefined): EventInput =>
  runnerLeft === undefined ? buildEvent(reason) : buildDetailedEvent(reason, runnerLeft);

const actionEvents = ({ decision, result, snapshot }: ReconcileResult): readonly EventInput[] => {
  if (result.kind === 'started') return decision.kind === 'bootstrap' ? [buildEvent('Bootstrapping')] : [];
  if (result.kind === 'pushed') return pushEvents(decision, result.outcome, snapshot.machine.status.hostConfigHash);
  if (result.kind !== 'done') return [];
  if (decision.kind === 'fetch credentials')
    return [buildEvent(snapshot.login.kind === 'known' ? 'CredentialsReclaimed' : 'Provisioned')];
  if (decision.kind === 'clean up')
    return [eventWithRunnerLeft(eventByCleanUpReason[decision.reason], decision.runnerLeft)];
  if (decision.kind === 'release') return [eventWithRunnerLeft('Releasing', decision.runnerLeft)];
  const reason = eventByDecision[decision.kind];
  return reason === undefined ? [] : [buildEvent(reason)];
};

const pushEvents = (decision: Decision, outcome: WorkOutcome, had: string | undefined): readonly EventInput[] => {
  if (outcome.kind === 'aborted') return [];
  const message = outcomeMessage(outcome);
  if (decision.kind === 'roll back') return [buildEvent('AgentRollFailed', `It was rolled back. ${message}`)];
  if (outcome.kind === 'done') return pushSucceededEvents(decision, outcome, had);
  if (decision.kind === 'bootstrap')
    return [buildEvent(outcome.kind === 'not wiped' ? 'HostNotWiped' : 'BootstrapFailed', message)];
  return decision.kind === 'roll' ? [buildEvent('AgentRollFailed', message)] : [];
};

const pushSucceededEvents = (
  decision: Decision,
  outcome: WorkOutcome,
  had: string | undefined,
): readonly EventInput[] => {
  if (decision.kind === 're-register') return [buildEvent('Reregistered')];
  if (!isComplete(outcome)) return [];
  if (decision.kind === 'bootstrap') return [buildEvent('Bootstrapped')];
  // A repeated push, because the agent had not reported the first one yet, is no news.
  return decision.kind === 'roll' && had !== decision.hash ? [buildEvent('AgentRolled')] : [];
};

/** Reasons that have their own event, by condition. */
const eventfulReasons = {
  Allowed: ['NamespaceNotAllowed'],
  Provisioned: ['NodeNameTaken', 'NoAdoptPoolPrefix', 'PoolPrefixNotAllowed', 'InvalidOSPin', 'NoAvailableHost'],
  Bootstrapped: [
    'CredentialsRefreshFailed',
    'MissingSudoPassword',
    'GHRunnerRegistrationTokenUnavailable',
    'NodeMissing',
  ],
} as const satisfies Record<string, readonly EventReason[]>;

const conditionEvents = (before: MachineStatus, after: MachineStatus): readonly EventInput[] =>
  Object.entries(eventfulReasons).flatMap(([type, reasons]) => {
    const now = getCondition(after.conditions, type);
    if (now === undefined || getCondition(before.conditions, type)?.reason === now.reason) return [];
    const reason = reasons.find((candidate) => candidate === now.reason);
    return reason === undefined ? [] : [buildEvent(reason, now.message)];
  });
