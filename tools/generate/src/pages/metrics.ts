import type { MetricDescription } from '@tartan/kube';
import { metricsTable } from '@tartan/provider/metrics';
import { runnerMetricsTable } from '@tartan/runners/metrics';
import { agentMetricRows } from '@tartan/tart-kubelet/metrics';
import { code, codes, generated, row, table } from './markdown.ts';

/** The page about metrics, from the registries that serve them. */

const rows = (metrics: readonly MetricDescription[]): string[] =>
  table(
    ['metric', 'type', 'labels', ''],
    metrics.map(({ name, type, labels, help }) => row(code(name), type, codes(labels), `${help.replace(/\.$/, '')}.`)),
  );

export const metricsPage = (): string => {
  const { own, runtime } = metricsTable();
  return [
    generated,
    '',
    '# Metrics',
    '',
    '## Provider',
    '',
    'The provider serves `/metrics` at `--metrics-bind-address`, in the Prometheus text format.',
    '',
    '### Macs, machines and Scaleway',
    '',
    'Only the leader exports gauges about objects, so a sum over replicas counts nothing twice. A Mac is counted as long as its object exists.',
    '',
    ...rows(own),
    '',
    '### Controllers and process',
    '',
    'These have the names of controller-runtime, so dashboards and alerts for controllers work. Every replica exports them, with the metrics',
    'of the process (`process_*`) and of Node.js (`nodejs_*`).',
    '',
    ...rows(runtime),
    '',
    '## Runners controller',
    '',
    'The runners controller serves `/metrics` at its `--metrics-bind-address`. Only the leader exports gauges about pools and limits. It also',
    'exports the controller and process metrics above.',
    '',
    ...rows(runnerMetricsTable()),
    '',
    '## Agent',
    '',
    'Each agent serves `/metrics` at its kubelet API; clients need the permission `get nodes/metrics`. It also exports the controller metrics',
    'above. `pool` is the label `tuist.dev/runner-pool` of the Pod, or `unknown`.',
    '',
    ...rows(agentMetricRows()),
    '',
  ].join('\n');
};
