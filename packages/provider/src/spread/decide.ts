import { createHash } from 'node:crypto';
import type { deploymentFacts } from './controller.ts';

export interface Snapshot {
  /** Undefined: the Deployment does not exist. */
  deployment: DeploymentFacts | undefined;
  /** Names of the Ready Macs on which its Pods may run. */
  ready: readonly string[];
  /** How long this set has not changed. */
  stableForMs: number;
  /** How long it must not have changed. */
  settleMs: number;
  /** Requeue interval of a Deployment that cannot be rolled yet: it is not watched, so nothing triggers. */
  lookAgainMs: number;
}

export type DeploymentFacts = Readonly<ReturnType<typeof deploymentFacts>>;

export type Decision =
  | { kind: 'skip'; reason: 'deleting' | 'spread' | 'noReadyMac' }
  | { kind: 'wait'; reason: 'noDeployment' | 'flapping' | 'paused' | 'unsettled'; forMs: number }
  | { kind: 'roll'; hash: string };

/** A roll during a roll would remove more Pods than the Deployment allows. */
const isRolledOut = ({ observed, desired, replicas, updated, available, unavailable }: DeploymentFacts): boolean =>
  observed && replicas === desired && updated === desired && available === desired && unavailable === 0;

/**
 * Whether to roll, so that the scheduler, which never moves a running Pod, spreads the Pods over the Macs that are Ready now. Without a
 * Ready Mac a roll would only end the last running Pods; when the same Macs are back, nothing has changed. So an outage of the whole fleet
 * causes no roll.
 */
export const decide = ({ deployment, ready, stableForMs, settleMs, lookAgainMs }: Snapshot): Decision => {
  if (deployment === undefined) return { kind: 'wait', reason: 'noDeployment', forMs: lookAgainMs };
  if (deployment.deleting) return { kind: 'skip', reason: 'deleting' };
  if (ready.length === 0) return { kind: 'skip', reason: 'noReadyMac' };
  const hash = fleetHash(ready);
  if (deployment.hash === hash) return { kind: 'skip', reason: 'spread' };
  const restlessMs = settleMs - stableForMs;
  if (!(restlessMs <= 0))
    return { kind: 'wait', reason: 'flapping', forMs: restlessMs < settleMs ? restlessMs : settleMs };
  if (deployment.paused) return { kind: 'wait', reason: 'paused', forMs: lookAgainMs };
  if (!isRolledOut(deployment)) return { kind: 'wait', reason: 'unsettled', forMs: lookAgainMs };
  return { kind: 'roll', hash };
};

/** The hash of a set of Nodes, in any order: the same as the original's, so that its Deployments are not rolled again. */
export const fleetHash = (names: readonly string[]): string =>
  createHash('sha256')
    .update([...names].sort().join(','))
    .digest('hex')
    .slice(0, 16);
