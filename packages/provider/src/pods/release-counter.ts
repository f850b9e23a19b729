import { Counter, type Registry } from 'prom-client';
import type { ReleaseCause } from './status.ts';

const labelOf: Record<ReleaseCause, string> = { nodeGone: 'node_gone', neverBound: 'never_bound' };

/** Counts Pods that were let go without their agent. One that keeps growing means Macs that die with Pods on them. */
export const createReleaseCounter = (registry: Registry): ((cause: ReleaseCause) => void) => {
  const counter = new Counter({
    name: 'tart_pods_released_total',
    help: 'Pods whose vm-cleanup finalizer was removed because no agent was left to do it',
    labelNames: ['cause'],
    registers: [registry],
  });
  for (const cause of Object.values(labelOf)) counter.inc({ cause }, 0);
  return (cause) => counter.inc({ cause: labelOf[cause] });
};
