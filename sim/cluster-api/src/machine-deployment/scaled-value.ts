import type { MachineDeployment } from '../kinds.ts';

/** `2` or `"25%"` of a number of replicas. */
const scaledValue = (value: number | string | undefined, of: number, round: 'up' | 'down'): number => {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1];
  if (percent === undefined) return Number(value ?? 0) || 0;
  return Math[round === 'up' ? 'ceil' : 'floor']((Number(percent) * of) / 100);
};

/** How many there may be too many, and how many too few, while Machines are replaced. Both nothing would mean that nothing ever happens. */
export const limitsOf = ({ spec }: MachineDeployment): { maxSurge: number; maxUnavailable: number } => {
  const { replicas = 1, rollout } = spec ?? {};
  const strategy = rollout?.strategy;
  if (strategy?.type === 'OnDelete') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledValue(strategy?.rollingUpdate?.maxSurge ?? 1, replicas, 'up');
  const unavailable = scaledValue(strategy?.rollingUpdate?.maxUnavailable ?? 0, replicas, 'down');
  return { maxSurge, maxUnavailable: Math.min(maxSurge === 0 && unavailable === 0 ? 1 : unavailable, replicas) };
};
