import { createMetrics, type Metrics } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { CallReport } from '@tartan/scaleway';
import { createZoneListErrors } from '../inventory/metrics.ts';
import { createReapCounter } from '../pods/reap/reap-counter.ts';
import { createReleaseCounter } from '../pods/release-counter.ts';
import { createSweepMetrics, type SweepMetrics } from '../sweep/metrics.ts';
import { type BootstrapSeconds, createBootstrapHistogram } from './bootstrap-durations.ts';
import { createScalewayMetrics } from './scaleway-metrics.ts';
import { createStateMetrics, type StateMetrics } from './state-metrics.ts';

/** All that the manager measures, in one registry. docs/metrics.md is made from it. */
export interface ProviderMetrics extends Metrics {
  /** For `onCall` of the pool. */
  readonly scalewayCall: (report: CallReport) => void;
  readonly zoneListFailed: ReturnType<typeof createZoneListErrors>;
  readonly sweep: SweepMetrics;
  readonly podReleased: ReturnType<typeof createReleaseCounter>;
  readonly podReaped: ReturnType<typeof createReapCounter>;
  readonly bootstrapSeconds: BootstrapSeconds;
  readonly state: StateMetrics;
}

/** `process` adds what Prometheus knows of any process. */
export const createProviderMetrics = (options: { clock: Clock; process?: boolean }): ProviderMetrics => {
  const metrics = createMetrics(options);
  const { registry } = metrics;
  return {
    ...metrics,
    scalewayCall: createScalewayMetrics(registry),
    zoneListFailed: createZoneListErrors(registry),
    sweep: createSweepMetrics(registry),
    podReleased: createReleaseCounter(registry),
    podReaped: createReapCounter(registry),
    bootstrapSeconds: createBootstrapHistogram(registry),
    state: createStateMetrics(registry),
  };
};
