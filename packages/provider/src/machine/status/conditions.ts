import {
  buildCondition,
  type ConditionReason,
  type ConditionType,
  type LastAttempt,
  type MachineStatus,
} from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { isUpToDate } from '../decide/provisioned.ts';
import { type Decision, lacksLogin } from '../decision.ts';
import { isUnreachable, lastAttemptOf, pauseMs } from '../last-attempt.ts';
import { intervals } from '../requeue.ts';
import { type HostFacts, isProvisioned, type Snapshot } from '../snapshot.ts';

type Kind = 'ScalewayAppleSiliconMachine';

const condition = <Type extends ConditionType<Kind>>(
  type: Type,
  reason: ConditionReason<Kind, Type>,
  message?: string,
): ConditionUpdate => buildCondition<Kind, Type>('ScalewayAppleSiliconMachine', type, reason, message);

export const pausedCondition = (decision: Decision, deleting: boolean): ConditionUpdate =>
  decision.kind === 'pause'
    ? condition('Paused', 'Paused', `${decision.why}${deleting ? deletionPausedNote : ''}`)
    : condition('Paused', 'NotPaused');

const deletionPausedNote = '. The machine is deleted, and its Mac released, when the pause ends';

/**
 * Every condition of a machine that is not paused. Total: earlier conditions do not matter. `status` is the status after the action, above
 * all the last attempt.
 */
export const conditionsOf = (
  status: MachineStatus,
  snapshot: Snapshot,
  decision: Decision,
): readonly ConditionUpdate[] => {
  const claim = provisioned(status, snapshot, decision);
  return [
    pausedCondition(decision, snapshot.machine.deleting),
    deleting(snapshot, decision),
    allowed(snapshot),
    claim,
    bootstrapped(status, snapshot, decision),
    nodeReady(status, snapshot),
    hostUpToDate(status, snapshot),
    ready(status, snapshot, claim),
    ...(snapshot.machine.blocksMove ? [condition('MoveBlocked', 'MacsAreNodesHere')] : []),
  ];
};

const allowed = ({ cluster: { refusal } }: Snapshot): ConditionUpdate =>
  refusal === undefined ? condition('Allowed', 'Allowed') : condition('Allowed', refusal.reason, refusal.message);

const deleting = ({ machine }: Snapshot, decision: Decision): ConditionUpdate => {
  if (!machine.deleting) return condition('Deleting', 'NotDeleting');
  if (decision.kind === 'release') return condition('Deleting', 'Releasing');
  if (decision.kind === 'remove runner')
    return condition('Deleting', 'Releasing', 'Its runner is taken off the list at GitHub before the Mac goes back.');
  if (decision.kind === 'await wipe' || decision.kind === 'await runner')
    return condition('Deleting', 'Releasing', decision.message);
  const skipped = decision.kind === 'clean up' && decision.reason === 'skipped';
  return condition('Deleting', skipped ? 'ReleaseSkipped' : 'CleaningUp');
};

const provisioned = (status: MachineStatus, snapshot: Snapshot, decision: Decision): ConditionUpdate => {
  const { machine, host, login } = snapshot;
  const isHeld = host.kind === 'present' && host.holder === 'me' && host.release === undefined;
  if (machine.deleting && !isHeld) return condition('Provisioned', 'HostReleased', releasedMessage);
  if (decision.kind === 'lost host') return condition('Provisioned', decision.reason, decision.message);
  // A provisioned machine stays provisioned if its Secret is lost, or while its MacHost is created again.
  if (isProvisioned(status)) return condition('Provisioned', 'HostClaimed');
  const attempt = lastAttemptOf(status);
  if (lacksLogin(decision) && attempt?.outcome === 'CredentialsPersistFailed')
    return condition('Provisioned', 'CredentialsPersistFailed', attempt.message);
  if (decision.kind === 'await cluster') return condition('Provisioned', 'WaitingForCluster', decision.message);
  if (decision.kind === 'cannot claim' || decision.kind === 'refuse')
    return condition('Provisioned', decision.reason, decision.message);
  if (decision.kind === 'release failed host') return condition('Provisioned', 'HostReleased');
  if (decision.kind === 'detach host')
    return condition('Provisioned', 'HostReleased', `${decision.message} Another one is claimed.`);
  if (decision.kind === 'await host' || (decision.kind === 'await key' && !isHeld))
    return condition('Provisioned', 'Adopting', decision.message);
  const isClaimed = isHeld && login.kind === 'known' && machine.providerID !== undefined;
  return condition('Provisioned', isClaimed ? 'HostClaimed' : 'Adopting');
};

const releasedMessage = 'The machine is being deleted, and does not hold a Mac any more.';

const nodeReady = (status: MachineStatus, { node }: Snapshot): ConditionUpdate => {
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
const ready = (status: MachineStatus, { machine, host, node }: Snapshot, claim: ConditionUpdate): ConditionUpdate => {
  if (machine.deleting) return condition('Ready', 'Deleting');
  if (claim.status !== 'True') return condition('Ready', 'NotProvisioned', claim.message);
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

/** The progress of provisioning. */
const bootstrapped = (status: MachineStatus, snapshot: Snapshot, decision: Decision): ConditionUpdate => {
  const { node, now } = snapshot;
  const attempt = lastAttemptOf(status);
  if (isProvisioned(status)) {
    if (node.kind === 'ours' && node.ready === 'True') return condition('Bootstrapped', 'Bootstrapped');
    if (attempt?.task === 'Register' && (decision.kind === 're-register' || pauseMs(attempt, now, node) > 0))
      return condition('Bootstrapped', 'NodeMissing', attempt.message);
    const isMissing = node.kind === 'missing' && node.forMs >= intervals.nodeMissing;
    return condition('Bootstrapped', isMissing ? 'NodeMissing' : 'Bootstrapped');
  }
  if (decision.kind === 'await key') return condition('Bootstrapped', 'SSHKeyUnavailable', decision.message);
  if (decision.kind === 'reboot' || (decision.kind === 'back off' && decision.reason === 'reboot'))
    return condition('Bootstrapped', 'Rebooting');
  if (attempt === undefined) return condition('Bootstrapped', 'Bootstrapping', 'It has not begun: see Provisioned.');
  const { outcome, count } = attempt;
  const message = attempt.message && count > 0 ? `${attempt.message} (attempt ${count})` : attempt.message;
  return condition('Bootstrapped', bootstrapReasons[outcome], message || undefined);
};

const bootstrapReasons = {
  Running: 'Bootstrapping',
  Aborted: 'Bootstrapping',
  Succeeded: 'Bootstrapped',
  RebootPending: 'Bootstrapped',
  WaitingForIdle: 'Bootstrapping',
  Incomplete: 'Bootstrapping',
  Rejected: 'BootstrapFailed',
  InvalidSpec: 'BootstrapFailed',
  HostUnreachable: 'HostUnreachable',
  HostKeyMismatch: 'HostKeyMismatch',
  HostNotWiped: 'HostNotWiped',
  HostLocked: 'HostLocked',
  TailscaleAuthKeyUnavailable: 'TailscaleAuthKeyUnavailable',
  NodeIdentityUnavailable: 'NodeIdentityUnavailable',
  GHRunnerRegistrationTokenUnavailable: 'GHRunnerRegistrationTokenUnavailable',
  CredentialsRefreshFailed: 'CredentialsRefreshFailed',
  // Reported by Provisioned.
  CredentialsPersistFailed: 'Bootstrapping',
  MissingSudoPassword: 'MissingSudoPassword',
} as const satisfies Record<LastAttempt['outcome'], ConditionReason<Kind, 'Bootstrapped'>>;

/** Whether the Mac has the desired state, and if not, why. */
const hostUpToDate = (status: MachineStatus, snapshot: Snapshot): ConditionUpdate => {
  const { desired, node, turn, now } = snapshot;
  const wanted = desired.kind === 'known' ? desired.hash : status.desiredHostConfigHash;
  if (desired.kind === 'problem') return condition('HostUpToDate', 'NotReported', desired.message);
  if (!isProvisioned(status) || wanted === undefined) return condition('HostUpToDate', 'NotReported');
  const attempt = lastAttemptOf(status);
  const isRecent = attempt?.outcome === 'Running' || pauseMs(attempt, now, node) > 0;
  if (status.failedHostConfigHash === wanted || (attempt?.task === 'RollBack' && isRecent))
    return condition('HostUpToDate', 'RollRejected', updateMessage(attempt));
  if (node.kind === 'missing') return condition('HostUpToDate', 'NotReported');
  if (isUpToDate(snapshot, status, wanted))
    return attempt?.task === 'Update' && attempt.outcome === 'RebootPending'
      ? condition('HostUpToDate', 'RebootPending')
      : condition('HostUpToDate', 'UpToDate', leftOutMessage(status));
  const hasTurn = turn !== undefined && turn.hash === wanted && !turn.rollBack;
  if (attempt?.task === 'Update' && (hasTurn || isRecent)) return whileUpdating(attempt);
  if (hasTurn) return condition('HostUpToDate', 'Rolling');
  return condition(
    'HostUpToDate',
    status.hostConfigHash === undefined && !(node.kind === 'ours' && node.summary !== undefined)
      ? 'NotReported'
      : 'WaitingForTurn',
  );
};

const updateMessage = (attempt: LastAttempt | undefined): string | undefined =>
  attempt?.task === 'Update' || attempt?.task === 'RollBack' ? attempt.message || undefined : undefined;

const whileUpdating = ({ outcome, message, count }: LastAttempt): ConditionUpdate => {
  if (isUnreachable(outcome)) return condition('HostUpToDate', 'RollUnreachable', message);
  if (outcome === 'Rejected') return condition('HostUpToDate', 'Rolling', `Attempt ${count} was refused: ${message}`);
  return condition('HostUpToDate', outcome === 'WaitingForIdle' ? 'WaitingForIdle' : 'Rolling', message || undefined);
};

const leftOutMessage = ({ leftOut }: MachineStatus): string | undefined =>
  leftOut === undefined
    ? undefined
    : `The Mac has all but what may fail, and did; it is tried again later. ${leftOut.message}`;

/** By Scaleway's state. An unknown state counts as running: the Node tells more. */
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
