import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock } from '../clock/clock.ts';
import type { PassObserver } from '../controller/pass-observer.ts';
import type { QueueObserver } from '../queue/queue-observer.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { createLeaderMetrics } from './leader-metrics.ts';
import { createQueueMetrics } from './queue-metrics.ts';
import { type CountedRequest, createRequestMetrics } from './request-metrics.ts';

/** What a controller process measures of itself, under the names, labels and buckets of controller-runtime. */
export interface Metrics {
  /** For metrics of your own. */
  readonly registry: Registry;
  controller(name: string): PassObserver;
  /** One observer per queue, also when a queue of that name has been there before. */
  queue(name: string): QueueObserver;
  request(request: CountedRequest): void;
  leading(lease: string, leads: boolean, transitions?: number): void;
  /** Prometheus' text format. */
  text(): Promise<{ contentType: string; body: string }>;
}

/** `process` adds what Prometheus knows of any process (CPU, memory, files) and of Node: from the real clock, not from `clock`. */
export const createMetrics = ({ clock, process = false }: { clock: Clock; process?: boolean }): Metrics => {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  return {
    registry,
    controller: createControllerMetrics(registry),
    queue: createQueueMetrics(registry, clock),
    request: createRequestMetrics(registry),
    leading: createLeaderMetrics(registry),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
};
