import { type EventReason, events, type MachineStatus } from '@tartan/api';
import { getCondition, type Happening } from '@tartan/kube';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { messageOf } from './conditions-of-bootstrap.ts';
import type { Decision, Farewell } from './decision.ts';
import { isWhole } from './memory.ts';
import type { Told } from './told.ts';

const happening = (reason: EventReason, message?: string): Happening => {
  const [type, means] = events[reason];
  return { type, reason, message: message ?? means };
};

/** What users hear of a pass. What would be said again at every pass is a condition; its event comes when the condition changes. */
export const happeningsOf = (told: Told, before: MachineStatus, after: MachineStatus): readonly Happening[] => [
  ...ofTheAct(told),
  ...ofChanges(before, after),
];

const simple: Partial<Record<Decision['kind'], EventReason>> = {
  take: 'Adopted',
  reboot: 'RebootingForRecovery',
  'give back': 'BootstrapExhausted',
  forgive: 'AgentRollRetried',
};

const farewells: Readonly<Record<Farewell, EventReason>> = {
  'no host': 'Released',
  released: 'Released',
  'host gone': 'Released',
  skipped: 'ReleaseSkipped',
  'not wiped': 'ReleasedNotWiped',
  abandoned: 'HostAbandoned',
};

const farewell = (reason: EventReason, runnerLeft: string | undefined): Happening =>
  happening(reason, runnerLeft === undefined ? undefined : `${events[reason][1]} ${runnerLeft}`);

const ofTheAct = ({ decision, result, snapshot }: Told): readonly Happening[] => {
  if (result.kind === 'under way') return decision.kind === 'bootstrap' ? [happening('Bootstrapping')] : [];
  if (result.kind === 'worked') return ofWork(decision, result.outcome, snapshot.machine?.memory.hostConfigHash);
  if (result.kind !== 'done') return [];
  if (decision.kind === 'fetch credentials')
    return [happening(snapshot.login.kind === 'known' ? 'CredentialsReclaimed' : 'Provisioned')];
  if (decision.kind === 'clean up') return [farewell(farewells[decision.because], decision.runnerLeft)];
  if (decision.kind === 'release') return [farewell('Releasing', decision.runnerLeft)];
  const reason = simple[decision.kind];
  return reason === undefined ? [] : [happening(reason)];
};

const ofWork = (decision: Decision, outcome: WorkOutcome, had: string | undefined): readonly Happening[] => {
  if (outcome.kind === 'aborted') return [];
  const message = messageOf(outcome);
  if (decision.kind === 'roll back') return [happening('AgentRollFailed', `It was rolled back. ${message}`)];
  if (outcome.kind === 'done') return ofSuccess(decision, outcome, had);
  if (decision.kind === 'bootstrap')
    return [happening(outcome.kind === 'not wiped' ? 'HostNotWiped' : 'BootstrapFailed', message)];
  return decision.kind === 'roll' ? [happening('AgentRollFailed', message)] : [];
};

const ofSuccess = (decision: Decision, outcome: WorkOutcome, had: string | undefined): readonly Happening[] => {
  if (decision.kind === 're-register') return [happening('Reregistered')];
  if (!isWhole(outcome)) return [];
  if (decision.kind === 'bootstrap') return [happening('Bootstrapped')];
  // Pushed a second time because the agent had not said so yet: no news.
  return decision.kind === 'roll' && had !== decision.hash ? [happening('AgentRolled')] : [];
};

/** Reasons that are worth an event of their own, by the condition that they are of. */
const loud = {
  Allowed: ['NamespaceNotAllowed'],
  Provisioned: ['NodeNameTaken', 'NoAdoptPoolPrefix', 'PoolPrefixNotAllowed', 'InvalidOSPin', 'NoAvailableHost'],
  Bootstrapped: [
    'CredentialsRefreshFailed',
    'MissingSudoPassword',
    'GHRunnerRegistrationTokenUnavailable',
    'NodeMissing',
  ],
} as const satisfies Record<string, readonly EventReason[]>;

const ofChanges = (before: MachineStatus, after: MachineStatus): readonly Happening[] =>
  Object.entries(loud).flatMap(([type, reasons]) => {
    const now = getCondition(after.conditions, type);
    if (now === undefined || getCondition(before.conditions, type)?.reason === now.reason) return [];
    const reason = reasons.find((candidate) => candidate === now.reason);
    return reason === undefined ? [] : [happening(reason, now.message)];
  });
