import type { Usage } from './pod-runtime.ts';

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number | undefined;
  readonly at: number;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', String.raw`\n`).replaceAll('"', String.raw`\"`);

const line = (name: string, { labels, value, at }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value} ${Math.round(at)}\n`;
};

const family = (name: string, type: string, help: string, samples: readonly Sample[]): string => {
  const known = samples.filter(({ value }) => value !== undefined && Number.isFinite(value));
  const lines = known.map((sample) => line(name, sample));
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
};

/** Metrics for metrics-server (`kubectl top`): each value with its time of measurement in milliseconds. */
export const formatResourceMetrics = ({ node, containers }: Usage): string => {
  const nodeSample = (value: number | undefined): Sample[] => [{ labels: {}, value, at: node.at }];
  const each = (pick: (container: Usage['containers'][number]) => number | undefined): Sample[] =>
    containers.map((one) => ({
      labels: { container: one.container, namespace: one.namespace, pod: one.pod },
      value: pick(one),
      at: one.at,
    }));
  return [
    family('node_cpu_usage_seconds_total', 'counter', 'CPU time used by the node', nodeSample(node.cpuSeconds)),
    family('node_memory_working_set_bytes', 'gauge', 'Memory in use on the node', nodeSample(node.memoryBytes)),
    family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU time used',
      each((one) => one.cpuSeconds),
    ),
    family(
      'container_memory_working_set_bytes',
      'gauge',
      'Memory in use',
      each((one) => one.memoryBytes),
    ),
    family(
      'container_start_time_seconds',
      'gauge',
      'Start, since the epoch',
      each((one) => one.startedAt / 1000),
    ),
  ].join('');
};
