import { createMetrics } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createProviderMetrics } from './provider-metrics.ts';

/** One metric, for people. */
export interface MetricRow {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

type Registry = ReturnType<typeof createMetrics>['registry'];

const labelsOf = (metric: object): string[] =>
  'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];

const rowsOf = (registry: Registry): MetricRow[] =>
  registry
    .getMetricsAsArray()
    .map((metric) => ({
      name: metric.name,
      type: String(metric.type),
      labels: labelsOf(metric),
      help: metric.help,
    }))
    .sort((a, b) => a.name.localeCompare(b.name));

/** What the registry of a manager holds: metrics of its own, and those that every controller process has. */
export const metricsTable = (): { readonly own: readonly MetricRow[]; readonly runtime: readonly MetricRow[] } => {
  const clock = manualClock();
  const runtime = rowsOf(createMetrics({ clock }).registry);
  const common = new Set(runtime.map(({ name }) => name));
  return { own: rowsOf(createProviderMetrics({ clock }).registry).filter(({ name }) => !common.has(name)), runtime };
};
