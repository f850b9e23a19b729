import { createMetrics, type MetricRow, metricRows } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createRunnerMetrics } from './runner-metrics.ts';

/** What the registry of a runners controller holds beside what every controller process has. */
export const runnerMetricsTable = (): readonly MetricRow[] => {
  const clock = manualClock();
  const common = new Set(metricRows(createMetrics({ clock }).registry).map(({ name }) => name));
  return metricRows(createRunnerMetrics({ clock }).registry).filter(({ name }) => !common.has(name));
};
