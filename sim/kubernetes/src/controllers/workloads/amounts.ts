import type { Amount, DeploymentSpec } from './shapes.ts';

const resolve = (amount: Amount, total: number, round: (value: number) => number): number => {
  if (typeof amount === 'number') return amount;
  return round((Number.parseInt(amount, 10) * total) / 100);
};

export interface Allowance {
  /** How many Pods there may be beyond the wanted ones. */
  maxSurge: number;
  /** How many may be missing. */
  maxUnavailable: number;
}

/** Surge is rounded up and unavailability down; should both come to nothing, one may be missing, or no roll would ever move. */
export const allowanceOf = ({ strategy, replicas }: DeploymentSpec): Allowance => {
  if (strategy.type !== 'RollingUpdate' || replicas === 0) return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = strategy.rollingUpdate ?? {};
  const surge = resolve(maxSurge, replicas, Math.ceil);
  const unavailable = resolve(maxUnavailable, replicas, Math.floor);
  return {
    maxSurge: surge,
    maxUnavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicas),
  };
};
