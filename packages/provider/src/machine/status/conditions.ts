import { buildCondition as sayOf, type ConditionReason, type ConditionType, type MachineStatus } from '@tartan/api';
import { type ConditionUpdate, getCondition, isConditionTrue } from '@tartan/kube';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import type { ActionResult, Decision, Drift } from '../decision.ts';
import { intervals } from '../requeue.ts';
import type { HostFacts, Snapshot } from '../snapshot.ts';
import { isComplete, waitsForIdle } from './transitions.ts';

type Kind = 'ScalewayAppleSiliconMachine';

/** What was found, what was decided, and what came of it. */
export interface ReconcileResult {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly result: ActionResult;
  /** Of the Mac, as Scaleway says. */
  readonly ip: string | undefined;
  readonly nodeAddresses: NonNullable<MachineStatus['addresses']>;
  /** That of this manager. */
  readonly releaseID: string | undefined;
}

const condition = <Type extends ConditionType<Kind>>(
  type: Type,
  reason: ConditionReason<Kind, Type>,
  message?: string,
): ConditionUpdate => sayOf<Kind, Type>('ScalewayAppleSiliconMachine', type, reason, message);

/** Whatever is not in here stays as it was said before. */
export const conditionsOf = (status: MachineStatus, reconciled: ReconcileResult): readonly ConditionUpdate[] => {
  const { decision, snapshot } = reconciled;
  if (decision.kind === 'pause')
    return [
      condition('Paused', 'Paused', `${decision.why}${snapshot.machine?.deleting === true ? deletionPausedNote : ''}`),
    ];
  const claim = provisioned(status, reconciled);
  const updates = [
    condition('Paused', 'NotPaused'),
    deleting(reconciled),
    allowed(reconciled),
    claim,
    bootstrapped(status, reconciled),
    nodeReady(status, reconciled),
    hostUpToDate(status, reconciled),
    ready(status, reconciled, claim),
    ...(snapshot.machine?.blocksMove === true ? [condition('MoveBlocked', 'MacsAreNodesHere')] : []),
  ];
  return updates.filter((update) => update !== undefined);
};

const deletionPausedNote = '. The machine is deleted, and its Mac released, when the pause ends';

const allowed = ({ snapshot: { machine, cluster } }: ReconcileResult): ConditionUpdate | undefined => {
  if (machine?.deleting === true) return undefined;
  const { refusal } = cluster;
  return refusal === undefined
    ? condition('Allowed', 'Allowed')
    : condition('Allowed', refusal.reason, refusal.message);
};

const deleting = ({ snapshot, decision }: ReconcileResult): ConditionUpdate => {
  if (snapshot.machine?.deleting !== true) return condition('Deleting', 'NotDeleting');
  if (decision.kind === 'release') return condition('Deleting', 'Releasing');
  if (decision.kind === 'remove runner')
    return condition('Deleting', 'Releasing', 'Its runner is taken off the list at GitHub before the Mac goes back.');
  if (decision.kind === 'await wipe' || decision.kind === 'await runner')
    return condition('Deleting', 'Releasing', decision.message);
  const skipped = decision.kind === 'clean up' && decision.because === 'skipped';
  return condition('Deleting', skipped ? 'ReleaseSkipped' : 'CleaningUp');
};

const provisioned = (status: MachineStatus, reconciled: ReconcileResult): ConditionUpdate | undefined => {
  const { snapshot, decision, result } = reconciled;
  if (snapshot.machine?.deleting === true || decision.kind === 'add finalizer') return undefined;
  if (isProvisioned(status)) return stillHeld(reconciled);
  if (result.kind === 'claim blocked') return condition('Provisioned', result.reason, result.message);
  if (decision.kind === 'await cluster') return condition('Provisioned', 'WaitingForCluster', decision.message);
  if (decision.kind === 'cannot claim' || decision.kind === 'lost host' || decision.kind === 'refuse')
    return condition('Provisioned', decision.reason, decision.message);
  if (decision.kind === 'give back') return condition('Provisioned', 'HostReleased');
  // Why it went is said already, when it was this machine that gave it back.
  if (decision.kind === 'let go')
    return getCondition(status.conditions, 'Provisioned')?.reason === 'HostReleased'
      ? undefined
      : condition('Provisioned', 'Adopting', `${decision.message} Another one is claimed.`);
  if (decision.kind === 'await host' || (decision.kind === 'await key' && !status.serverID))
    return condition('Provisioned', 'Adopting', decision.message);
  return condition('Provisioned', claiming.has(decision.kind) ? 'Adopting' : 'HostClaimed');
};

const claiming: ReadonlySet<string> = new Set(['reserve', 'take', 'fetch credentials', 'set provider id']);

const isProvisioned = ({ initialization }: MachineStatus): boolean => initialization?.provisioned === true;

/** A machine that works does not stop to because its Secret was lost, or because its MacHost is being made again. */
const stillHeld = ({ decision }: ReconcileResult): ConditionUpdate | undefined => {
  if (decision.kind === 'lost host') return condition('Provisioned', decision.reason, decision.message);
  return decision.kind === 'take' || decision.kind === 'await host'
    ? undefined
    : condition('Provisioned', 'HostClaimed');
};

const nodeReady = (status: MachineStatus, { snapshot: { node } }: ReconcileResult): ConditionUpdate => {
  if (!isProvisioned(status)) return condition('NodeReady', 'NotBootstrapped');
  switch (node.kind) {
    case 'missing':
      return condition('NodeReady', 'NodeMissing');
    case 'foreign':
      return condition(
        'NodeReady',
        'NodeMissing',
        `A Node has the name of the machine, but is that of another server (${node.providerID || 'without a providerID, and not at the address of the Mac'}). Delete that Node, and the agent registers its own.`,
      );
    case 'ours': {
      const reason = node.ready === 'True' ? 'NodeReady' : node.ready === 'False' ? 'NodeNotReady' : 'NodeUnknown';
      return condition('NodeReady', reason, node.message || undefined);
    }
  }
};

/** The summary, which Cluster API copies. It names the first thing that is missing. */
const ready = (
  status: MachineStatus,
  { snapshot }: ReconcileResult,
  claim: ConditionUpdate | undefined,
): ConditionUpdate => {
  const { host, node } = snapshot;
  if (snapshot.machine?.deleting === true) return condition('Ready', 'Deleting');
  const claimed = claim === undefined ? isConditionTrue(status.conditions, 'Provisioned') : claim.status === 'True';
  if (!claimed) return condition('Ready', 'NotProvisioned', claim?.message);
  if (!isProvisioned(status)) return condition('Ready', 'NotBootstrapped');
  if (!isHostRunning(host))
    return condition(
      'Ready',
      'HostNotRunning',
      host.kind === 'present' ? `Scaleway says that the Mac is in state ${host.serverStatus ?? 'unknown'}.` : undefined,
    );
  if (node.kind === 'ours' && node.ready === 'True') return condition('Ready', 'Ready');
  return condition('Ready', 'NodeNotReady');
};

type Reason = ConditionReason<'ScalewayAppleSiliconMachine', 'Bootstrapped'>;

/** How far making the Mac ready has come. What a failure said stays until the next try. */
const bootstrapped = (
  status: MachineStatus,
  { snapshot, decision, result }: ReconcileResult,
): ConditionUpdate | undefined => {
  if (snapshot.machine?.deleting === true) return undefined;
  if (status.initialization?.provisioned === true && decision.kind !== 're-register' && decision.kind !== 'bootstrap')
    return afterProvisioning(snapshot.node);
  if (result.kind === 'bootstrap blocked') return condition('Bootstrapped', result.reason, result.message);
  if (decision.kind === 're-register') return reregistered(decision.because, result);
  if (decision.kind === 'await key') return condition('Bootstrapped', 'SSHKeyUnavailable', decision.message);
  if (decision.kind === 'reboot' || (decision.kind === 'back off' && decision.because === 'reboot'))
    return condition('Bootstrapped', 'Rebooting');
  if (decision.kind !== 'bootstrap') return undefined;
  if (result.kind === 'pushed') return afterBootstrapPush(result.outcome, status);
  return result.kind === 'started' ? condition('Bootstrapped', 'Bootstrapping') : undefined;
};

const afterProvisioning = (node: ReconcileResult['snapshot']['node']): ConditionUpdate =>
  node.kind === 'missing' && node.forMs >= intervals.nodeMissing
    ? condition('Bootstrapped', 'NodeMissing')
    : condition('Bootstrapped', 'Bootstrapped');

const reregistered = (because: string, result: ReconcileResult['result']): ConditionUpdate => {
  const { outcome } = result.kind === 'pushed' ? result : { outcome: undefined };
  const failure = outcome === undefined || outcome.kind === 'done' ? undefined : outcomeMessage(outcome);
  const action =
    failure === undefined ? 'The agent is told to register again.' : `The agent could not be told: ${failure}`;
  return condition('Bootstrapped', 'NodeMissing', `${because} ${action}`);
};

const reasons = {
  unreachable: 'HostUnreachable',
  'host key changed': 'HostKeyMismatch',
  'not wiped': 'HostNotWiped',
  locked: 'HostLocked',
  rejected: 'BootstrapFailed',
} as const satisfies Partial<Record<WorkOutcome['kind'], Reason>>;

const afterBootstrapPush = (
  outcome: WorkOutcome,
  { bootstrapAttempts = 0 }: MachineStatus,
): ConditionUpdate | undefined => {
  if (outcome.kind === 'aborted') return undefined;
  if (outcome.kind === 'done') {
    if (isComplete(outcome)) return condition('Bootstrapped', 'Bootstrapped');
    return condition('Bootstrapped', 'Bootstrapping', outcomeMessage(outcome));
  }
  const attempt = bootstrapAttempts > 0 ? ` (attempt ${bootstrapAttempts})` : '';
  return condition('Bootstrapped', reasons[outcome.kind], `${outcomeMessage(outcome)}${attempt}`);
};

/** For people: what a push came to. */
export const outcomeMessage = (outcome: WorkOutcome): string => {
  if (outcome.kind === 'aborted') return 'It was ended before it was done.';
  if (outcome.kind !== 'done') return outcome.message;
  if (outcome.deferred.length === 0) return 'Everything is done.';
  return `These steps wait: ${outcome.deferred.map(({ step, because }) => `${step} (${because})`).join(', ')}.`;
};

/** What stands between the Mac and what it shall have. */
const hostUpToDate = (
  status: MachineStatus,
  { snapshot, decision, result }: ReconcileResult,
): ConditionUpdate | undefined => {
  if (snapshot.machine?.deleting === true || status.initialization?.provisioned !== true) return undefined;
  const { desired } = snapshot;
  if (decision.kind === 'rest')
    return whileWaiting(decision.drift, status, desired.kind === 'problem' ? desired.message : undefined);
  if (decision.kind === 'forgive') return condition('HostUpToDate', 'WaitingForTurn');
  // The very first push leaves nothing to roll; what the agent says counts from then on.
  if (decision.kind === 'bootstrap') return condition('HostUpToDate', 'UpToDate', leftOutMessage(status));
  if (decision.kind === 'roll' && result.kind === 'started') return condition('HostUpToDate', 'Rolling');
  if (result.kind !== 'pushed') return undefined;
  if (decision.kind === 'roll') return afterRollPush(result.outcome, status, decision.hash);
  return decision.kind === 'roll back'
    ? condition('HostUpToDate', 'RollRejected', rollBackMessage(result.outcome))
    : undefined;
};

const whileWaiting = (
  drift: Drift,
  status: MachineStatus,
  problem: string | undefined,
): ConditionUpdate | undefined => {
  switch (drift) {
    case 'up to date':
      // Only a restart ends this, and the next push sees whether there was one.
      return hasReason(status, 'RebootPending')
        ? undefined
        : condition('HostUpToDate', 'UpToDate', leftOutMessage(status));
    case 'not reported':
      return condition('HostUpToDate', 'NotReported');
    case 'no turn':
      return condition('HostUpToDate', 'WaitingForTurn');
    case 'waiting for idle':
      return condition('HostUpToDate', 'WaitingForIdle');
    case 'no plan':
      return condition('HostUpToDate', 'NotReported', problem);
    case 'refused':
      return hasReason(status, 'RollRejected') ? undefined : condition('HostUpToDate', 'RollRejected');
    case 'pausing':
    case 'no key':
      return undefined;
  }
};

const hasReason = ({ conditions }: MachineStatus, reason: string): boolean =>
  conditions?.some((each) => each.type === 'HostUpToDate' && each.reason === reason) ?? false;

const afterRollPush = (outcome: WorkOutcome, status: MachineStatus, hash: string): ConditionUpdate | undefined => {
  switch (outcome.kind) {
    case 'aborted':
      return undefined;
    case 'locked':
      return condition('HostUpToDate', 'Rolling', outcome.message);
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
      return condition('HostUpToDate', 'RollUnreachable', outcome.message);
    case 'rejected':
      return rollRejected(outcome.message, status, hash);
    case 'done':
      if (waitsForIdle(outcome)) return condition('HostUpToDate', 'WaitingForIdle', outcomeMessage(outcome));
      if (outcome.deferred.length > 0) return condition('HostUpToDate', 'Rolling', outcomeMessage(outcome));
      if (outcome.rebootPending) return condition('HostUpToDate', 'RebootPending');
      if (outcome.summary === hash) return condition('HostUpToDate', 'UpToDate');
      if (outcome.optionalFailures.length > 0) return condition('HostUpToDate', 'UpToDate', leftOutMessage(status));
      return rollRejected('The Mac has something else than was sent.', status, hash);
  }
};

const rollRejected = (message: string, status: MachineStatus, hash: string): ConditionUpdate =>
  status.failedHostConfigHash === hash
    ? condition('HostUpToDate', 'RollRejected', message)
    : condition('HostUpToDate', 'Rolling', `Attempt ${status.tartKubeletUpdateAttempts ?? 1} was refused: ${message}`);

const leftOutMessage = ({ leftOut }: MachineStatus): string | undefined =>
  leftOut === undefined
    ? undefined
    : `The Mac has all but what may fail, and did; it is tried again later. ${leftOut.message}`;

const rollBackMessage = (outcome: WorkOutcome): string => {
  const why = 'The Node was not Ready in time with what was rolled out.';
  return outcome.kind === 'done'
    ? `${why} What it had before was put back.`
    : `${why} What it had before could not be put back: ${outcomeMessage(outcome)}`;
};

/** As far as Scaleway says. One that nobody has been asked about is taken to run: its Node knows better. */
export const isHostRunning = (host: HostFacts): boolean => {
  switch (host.kind) {
    case 'none':
      return false;
    case 'absent':
      return host.server !== 'gone';
    case 'present':
      return !host.gone && (host.serverStatus === undefined || host.serverStatus === 'ready');
  }
};
