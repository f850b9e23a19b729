import { createMetrics, type MetricRow, metricRows } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createProviderMetrics } from './provider-metrics.ts';

/** What the registry of a manager holds: metrics of its own, and those that every controller process has. */
export const metricsTable = (): { readonly own: readonly MetricRow[]; readonly runtime: readonly MetricRow[] } => {
  const clock = manualClock();
  const runtime = metricRows(createMetrics({ clock }).registry);
  const common = new Set(runtime.map(({ name }) => name));
  return {
    own: metricRows(createProviderMetrics({ clock }).registry).filter(({ name }) => !common.has(name)),
    runtime,
  };
};
