import { createHash } from 'node:crypto';
import type { deploymentFacts } from './controller.ts';

export interface Snapshot {
  /** Undefined: no such Deployment. */
  deployment: DeploymentFacts | undefined;
  /** Names of the Ready Macs on which its Pods may run. */
  ready: readonly string[];
  /** For how long nobody has joined or left them. */
  stableForMs: number;
  /** For how long nobody must have. */
  settleMs: number;
  /** When to look again at a Deployment that is not ours to roll yet: nothing is told of it, since it is not watched. */
  lookAgainMs: number;
}

export type DeploymentFacts = Readonly<ReturnType<typeof deploymentFacts>>;

export type Decision =
  | { kind: 'leave'; because: 'deleting' | 'spread' | 'noReadyMac' }
  | { kind: 'wait'; because: 'noDeployment' | 'flapping' | 'paused' | 'unsettled'; forMs: number }
  | { kind: 'roll'; hash: string };

/** A roll on top of a roll would take away more Pods than the Deployment allows for each by itself. */
const isRolledOut = ({ observed, desired, replicas, updated, available, unavailable }: DeploymentFacts): boolean =>
  observed && replicas === desired && updated === desired && available === desired && unavailable === 0;

/**
 * Whether to roll, so that the scheduler, which never moves a running Pod, spreads the Pods over the Macs that are Ready now.
 * Without any Ready Mac there is nothing to spread over, and a roll would end the last Pods that still run; when the same Macs are
 * back nothing has changed. An outage of the whole fleet thus costs no roll.
 */
export const decide = ({ deployment, ready, stableForMs, settleMs, lookAgainMs }: Snapshot): Decision => {
  if (deployment === undefined) return { kind: 'wait', because: 'noDeployment', forMs: lookAgainMs };
  if (deployment.deleting) return { kind: 'leave', because: 'deleting' };
  if (ready.length === 0) return { kind: 'leave', because: 'noReadyMac' };
  const hash = fleetHash(ready);
  if (deployment.hash === hash) return { kind: 'leave', because: 'spread' };
  const restlessMs = settleMs - stableForMs;
  if (!(restlessMs <= 0))
    return { kind: 'wait', because: 'flapping', forMs: restlessMs < settleMs ? restlessMs : settleMs };
  if (deployment.paused) return { kind: 'wait', because: 'paused', forMs: lookAgainMs };
  if (!isRolledOut(deployment)) return { kind: 'wait', because: 'unsettled', forMs: lookAgainMs };
  return { kind: 'roll', hash };
};

/** Stands for a set of Nodes, whatever their order: the original's, so that a Deployment that it has stamped is not rolled anew. */
export const fleetHash = (names: readonly string[]): string =>
  createHash('sha256')
    .update([...names].sort().join(','))
    .digest('hex')
    .slice(0, 16);
