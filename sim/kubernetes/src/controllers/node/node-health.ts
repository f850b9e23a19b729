import { timestamp } from '@tartan/kube/clock';
import { type Condition, conditionOf, type Node } from '../runtime/objects.ts';

/** When the node lifecycle controller last saw a heartbeat of a Node, by its own clock, and that heartbeat. */
export interface Health {
  lastSeen: number;
  ready: Condition | undefined;
  renewTime: string | undefined;
}

/** Kubelets renew every 10 s; four renewals may be missed, and a broken connection takes up to 45 s to be noticed. */
const gracePeriod = 50_000;
/** For a Node whose kubelet has not posted a status yet. */
const startupGracePeriod = 60_000;

const isNewer = (renewTime: string | undefined, known: string | undefined): renewTime is string =>
  renewTime !== undefined && (known === undefined || Date.parse(renewTime) > Date.parse(known));

/** Compares Node and Lease with the last observation. A changed heartbeat in the status or a renewed Lease is a sign of life. */
export const observeHealth = (
  before: Health | undefined,
  node: Node,
  renewTime: string | undefined,
  now: number,
): Health => {
  const ready = conditionOf(node, 'Ready');
  const alive =
    isNewer(renewTime, before?.renewTime) ||
    (ready !== undefined && (!before?.ready || before.ready.lastHeartbeatTime !== ready.lastHeartbeatTime));
  const seenBefore = before?.lastSeen ?? Date.parse(node.metadata.creationTimestamp);
  return { lastSeen: alive ? now : seenBefore, ready, renewTime: renewTime ?? before?.renewTime };
};

export const isStale = (health: Health, now: number): boolean =>
  now > health.lastSeen + (health.ready ? gracePeriod : startupGracePeriod);

const monitoredConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const neverPosted = (type: string, node: Node, now: number): Condition => ({
  type,
  status: 'Unknown',
  reason: 'NodeStatusNeverUpdated',
  message: 'Kubelet never posted node status.',
  lastHeartbeatTime: node.metadata.creationTimestamp,
  lastTransitionTime: timestamp(now),
});

const stoppedPosting = (condition: Condition, now: number): Condition =>
  condition.status === 'Unknown'
    ? condition
    : {
        ...condition,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: timestamp(now),
      };

/** The conditions of a Node without heartbeats; undefined when it already has them. */
export const unknownConditions = (node: Node, now: number): Condition[] | undefined => {
  if (conditionOf(node, 'Ready')?.status === 'Unknown') return undefined;
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    monitoredConditions.includes(condition.type) ? stoppedPosting(condition, now) : condition,
  );
  const missing = monitoredConditions.filter((type) => !conditionOf(node, type));
  return [...conditions, ...missing.map((type) => neverPosted(type, node, now))];
};
