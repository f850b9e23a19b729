import { createMetrics, type MetricRow, metricRows } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createAgentMetrics } from './agent-metrics.ts';

/** What the agent measures beyond what every controller process does. */
export const agentMetricsTable = (): readonly MetricRow[] => {
  const clock = manualClock();
  const common = new Set(metricRows(createMetrics({ clock }).registry).map(({ name }) => name));
  const { registry } = createAgentMetrics({
    clock,
    oldestWaitingSince: () => undefined,
    pullsUnderWay: () => 0,
    certificates: () => ({ client: undefined, serving: undefined }),
  });
  return metricRows(registry).filter(({ name }) => !common.has(name));
};
