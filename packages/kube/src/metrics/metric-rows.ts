import type { Registry } from 'prom-client';

/** One metric, for people. */
export interface MetricRow {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const labelsOf = (metric: object): string[] =>
  'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];

/** What a registry holds, by name: the pages about metrics are made from it. */
export const metricRows = (registry: Registry): MetricRow[] =>
  registry
    .getMetricsAsArray()
    .map((metric) => ({
      name: metric.name,
      type: String(metric.type),
      labels: labelsOf(metric),
      help: metric.help,
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
