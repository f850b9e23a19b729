import type { MachineStatus } from '@tartan/api';
import { type ConditionUpdate, getCondition, isTrue } from '@tartan/kube';
import { bootstrapped } from './conditions-of-bootstrap.ts';
import { hostUpToDate } from './conditions-of-drift.ts';
import { isHostRunning } from './host-running.ts';
import { say, type Told } from './told.ts';

/** Whatever is not in here stays as it was said before. */
export const conditionsOf = (status: MachineStatus, told: Told): readonly ConditionUpdate[] => {
  const { decision, snapshot } = told;
  if (decision.kind === 'pause')
    return [say('Paused', 'Paused', `${decision.why}${snapshot.machine?.deleting === true ? deletionWaits : ''}`)];
  const claim = provisioned(status, told);
  const updates = [
    say('Paused', 'NotPaused'),
    deleting(told),
    allowed(told),
    claim,
    bootstrapped(status, told),
    nodeReady(status, told),
    hostUpToDate(status, told),
    ready(status, told, claim),
    ...(snapshot.machine?.blocksMove === true ? [say('MoveBlocked', 'MacsAreNodesHere')] : []),
  ];
  return updates.filter((update) => update !== undefined);
};

const deletionWaits = '. The machine is deleted, and its Mac released, when the pause ends';

const allowed = ({ snapshot: { machine, cluster } }: Told): ConditionUpdate | undefined => {
  if (machine?.deleting === true) return undefined;
  const { refusal } = cluster;
  return refusal === undefined ? say('Allowed', 'Allowed') : say('Allowed', refusal.reason, refusal.message);
};

const deleting = ({ snapshot, decision }: Told): ConditionUpdate => {
  if (snapshot.machine?.deleting !== true) return say('Deleting', 'NotDeleting');
  if (decision.kind === 'release') return say('Deleting', 'Releasing');
  if (decision.kind === 'remove runner')
    return say('Deleting', 'Releasing', 'Its runner is taken off the list at GitHub before the Mac goes back.');
  if (decision.kind === 'await wipe' || decision.kind === 'await runner')
    return say('Deleting', 'Releasing', decision.message);
  const skipped = decision.kind === 'clean up' && decision.because === 'skipped';
  return say('Deleting', skipped ? 'ReleaseSkipped' : 'CleaningUp');
};

const provisioned = (status: MachineStatus, told: Told): ConditionUpdate | undefined => {
  const { snapshot, decision, result } = told;
  if (snapshot.machine?.deleting === true || decision.kind === 'add finalizer') return undefined;
  if (isProvisioned(status)) return stillHeld(told);
  if (result.kind === 'no claim') return say('Provisioned', result.reason, result.message);
  if (decision.kind === 'await cluster') return say('Provisioned', 'WaitingForCluster', decision.message);
  if (decision.kind === 'cannot claim' || decision.kind === 'lost host' || decision.kind === 'refuse')
    return say('Provisioned', decision.reason, decision.message);
  if (decision.kind === 'give back') return say('Provisioned', 'HostReleased');
  // Why it went is said already, when it was this machine that gave it back.
  if (decision.kind === 'let go')
    return getCondition(status.conditions, 'Provisioned')?.reason === 'HostReleased'
      ? undefined
      : say('Provisioned', 'Adopting', `${decision.message} Another one is claimed.`);
  if (decision.kind === 'await host' || (decision.kind === 'await key' && !status.serverID))
    return say('Provisioned', 'Adopting', decision.message);
  return say('Provisioned', claiming.has(decision.kind) ? 'Adopting' : 'HostClaimed');
};

const claiming: ReadonlySet<string> = new Set(['reserve', 'take', 'fetch credentials', 'set provider id']);

const isProvisioned = ({ initialization }: MachineStatus): boolean => initialization?.provisioned === true;

/** A machine that works does not stop to because its Secret was lost, or because its MacHost is being made again. */
const stillHeld = ({ decision }: Told): ConditionUpdate | undefined => {
  if (decision.kind === 'lost host') return say('Provisioned', decision.reason, decision.message);
  return decision.kind === 'take' || decision.kind === 'await host' ? undefined : say('Provisioned', 'HostClaimed');
};

const nodeReady = (status: MachineStatus, { snapshot: { node } }: Told): ConditionUpdate => {
  if (!isProvisioned(status)) return say('NodeReady', 'NotBootstrapped');
  switch (node.kind) {
    case 'missing':
      return say('NodeReady', 'NodeMissing');
    case 'foreign':
      return say(
        'NodeReady',
        'NodeMissing',
        `A Node has the name of the machine, but is that of another server (${node.providerID || 'without a providerID, and not at the address of the Mac'}). Delete that Node, and the agent registers its own.`,
      );
    case 'ours': {
      const reason = node.ready === 'True' ? 'NodeReady' : node.ready === 'False' ? 'NodeNotReady' : 'NodeUnknown';
      return say('NodeReady', reason, node.message || undefined);
    }
  }
};

/** The summary, which Cluster API copies. It names the first thing that is missing. */
const ready = (status: MachineStatus, { snapshot }: Told, claim: ConditionUpdate | undefined): ConditionUpdate => {
  const { host, node } = snapshot;
  if (snapshot.machine?.deleting === true) return say('Ready', 'Deleting');
  const claimed = claim === undefined ? isTrue(status.conditions, 'Provisioned') : claim.status === 'True';
  if (!claimed) return say('Ready', 'NotProvisioned', claim?.message);
  if (!isProvisioned(status)) return say('Ready', 'NotBootstrapped');
  if (!isHostRunning(host))
    return say(
      'Ready',
      'HostNotRunning',
      host.kind === 'present' ? `Scaleway says that the Mac is in state ${host.serverStatus ?? 'unknown'}.` : undefined,
    );
  if (node.kind === 'ours' && node.ready === 'True') return say('Ready', 'Ready');
  return say('Ready', 'NodeNotReady');
};
