import { createMetrics, type Metrics } from '@tartan/kube';
import type { PodObserver } from '../pods/world.ts';
import { createMacMetrics, type MacMetrics, type MacMetricsOptions } from './mac-metrics.ts';
import { createPodMetrics } from './pod-metrics.ts';

/** All that the agent measures, in one registry; `text()` is what `/metrics` serves. docs/metrics.md is made from it. */
export interface AgentMetrics extends Metrics, MacMetrics {
  readonly pods: PodObserver;
}

/** `process` adds what Prometheus knows of any process. */
export const createAgentMetrics = (options: MacMetricsOptions & { readonly process?: boolean }): AgentMetrics => {
  const { clock, process = false } = options;
  const metrics = createMetrics({ clock, process });
  const { registry } = metrics;
  return { ...metrics, ...createMacMetrics(registry, options), pods: createPodMetrics(registry) };
};
