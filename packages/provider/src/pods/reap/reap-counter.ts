import { metricNames } from '@tartan/api';
import { Counter, type Registry } from 'prom-client';
import type { ReapedPhase } from './status.ts';

const phases: readonly ReapedPhase[] = ['succeeded', 'failed'];

/** Counts Pods that had ended and were deleted so that their Mac could go. */
export const createReapCounter = (registry: Registry): ((phase: ReapedPhase) => void) => {
  const counter = new Counter({
    name: metricNames.podsReaped,
    help: 'Pods that had ended and were deleted since they held up the drain of their Mac',
    labelNames: ['phase'],
    registers: [registry],
  });
  for (const phase of phases) counter.inc({ phase }, 0);
  return (phase) => counter.inc({ phase });
};
