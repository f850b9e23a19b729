import { failureLeftMs } from './decide-bootstrap.ts';
import type { Decision, Drift } from './decision.ts';
import { countsAs } from './left-out.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import { waits } from './waits.ts';

/**
 * What the Mac has. Its agent knows best, but one that does not run any more said what was: then the last push counts, and a fleet can
 * see that a Mac got something new and did not come back with it.
 */
export const actualHash = ({ node, restMs }: Pick<Snapshot, 'node' | 'restMs'>, memory: MachineFacts['memory']) => {
  const summary = node.kind === 'ours' && node.ready === 'True' ? node.summary : undefined;
  // Right after a push the agent has yet to restart.
  return restMs > 0 ? (memory.hostConfigHash ?? summary) : (summary ?? memory.hostConfigHash);
};

/** What the Mac has against what it shall have. Nothing is pushed without a turn (invariant 9). */
export const decideDrift = (snapshot: Snapshot, machine: MachineFacts): Decision => {
  const { node, desired, turn } = snapshot;
  const { memory } = machine;
  const cordoned = node.kind === 'ours' && node.cordonedByUs;
  if (desired.kind !== 'known') return cordoned ? { kind: 'uncordon' } : rest('no plan', waits.person);
  const failed = memory.failedHostConfigHash;
  if (failed !== undefined) {
    if (failed !== desired.hash) return { kind: 'forgive', because: 'another hash' };
    if (cooledDown(snapshot, memory.lastUpdateFailureTime)) return { kind: 'forgive', because: 'cooldown' };
  }
  const actual = actualHash(snapshot, memory);
  const { now, policy } = snapshot;
  const tolerance = { desired: desired.hash, leftOut: memory.leftOut, now, retryAfterMs: policy.updateRetryAfterMs };
  const upToDate = countsAs(actual, tolerance) === desired.hash;
  const mayRoll = turn !== undefined && turn.hash === desired.hash && !turn.rollBack && failed === undefined;
  // A cordon of ours that serves no roll keeps virtual machines off a good Mac.
  if (cordoned && (upToDate || !mayRoll)) return { kind: 'uncordon' };
  if (upToDate) return rest('up to date', memory.joinTokenID === undefined ? waits.nothing : waits.joined);
  if (failed !== undefined) return rest('refused', leftOf(snapshot, memory.lastUpdateFailureTime));
  if (snapshot.restMs > 0) return rest('pausing', snapshot.restMs);
  if (!mayRoll) return rest(actual === undefined ? 'not reported' : 'no turn', waits.nothing);
  return roll(snapshot, machine, desired.hash, cordoned);
};

const roll = (snapshot: Snapshot, { memory }: MachineFacts, hash: string, cordoned: boolean): Decision => {
  const { now, fleetKey, idle, node } = snapshot;
  if (fleetKey.kind !== 'ready') return rest('no key', waits.others);
  const left = failureLeftMs(memory.lastUpdateFailureTime, now);
  if (left > 0 && (memory.tartKubeletUpdateAttempts ?? 0) > 0) return rest('pausing', left);
  // What can be done beside virtual machines was done before the cordon.
  if (cordoned && idle !== true) return rest('waiting for idle', waits.idle);
  // An idle Node that takes Pods may have one in the next moment.
  const staysIdle = idle === true && node.kind === 'ours' && node.unschedulable;
  return { kind: 'roll', hash, idle: staysIdle };
};

const rest = (drift: Drift, forMs: number): Decision => ({ kind: 'rest', drift, forMs });

/** Nobody knows when it failed: then it is long ago (I-52: a verdict must end by itself). */
const cooledDown = ({ now, policy }: Snapshot, failedAt: string | undefined): boolean =>
  policy.updateRetryAfterMs !== undefined && !(now < Date.parse(failedAt ?? '') + policy.updateRetryAfterMs);

const leftOf = ({ now, policy }: Snapshot, failedAt: string | undefined): number => {
  const left = Date.parse(failedAt ?? '') + (policy.updateRetryAfterMs ?? Infinity) - now;
  return left > 0 && left < waits.nothing ? left : waits.nothing;
};
