import type { Clock } from '../clock/clock.ts';
import type { QueueObserver } from '../workqueue/work-queue.ts';
import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from './prometheus.ts';

/** 10 ns to 1000 s, as in client-go. */
const secondsBuckets = exponentialBuckets(10e-9, 10, 12);

/** Since when each key waits or is processed. */
interface QueueState {
  waiting: Map<string, number>;
  working: Map<string, number>;
}

/**
 * Gauges are computed at each scrape from the queues' keys, so they cannot drift. `controller` repeats the name, as in
 * controller-runtime; the depth has no `priority` label, as keys have no priority here.
 */
export const createQueueMetrics = (registry: Registry, clock: Clock): ((name: string) => QueueObserver) => {
  const states = new Map<string, QueueState>();
  const registers = [registry];
  const labelNames = ['name', 'controller'] as const;
  const secondsSince = (since: number): number => (clock.monotonic() - since) / 1000;

  const gauge = (metric: string, help: string, measure: (state: QueueState) => number): void => {
    const collector = new Gauge({
      name: metric,
      help,
      labelNames,
      registers,
      collect: () => {
        for (const [name, state] of states) collector.set({ name, controller: name }, measure(state));
      },
    });
  };
  const counter = (name: string, help: string): Counter<'name' | 'controller'> =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string): Histogram<'name' | 'controller'> =>
    new Histogram({ name, help, labelNames, buckets: secondsBuckets, registers });

  gauge('workqueue_depth', 'Keys that want a worker', ({ waiting }) => waiting.size);
  gauge(
    'workqueue_unfinished_work_seconds',
    'How long the keys being worked on have been so, added up',
    ({ working }) => working.values().reduce((sum, since) => sum + secondsSince(since), 0),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the slowest worker has been at its key',
    ({ working }) => Math.max(0, ...working.values().map(secondsSince)),
  );
  const adds = counter('workqueue_adds_total', 'Keys added');
  const retries = counter('workqueue_retries_total', 'Keys that were asked to come later: retries and delays');
  const queueSeconds = histogram('workqueue_queue_duration_seconds', 'How long keys wait for a worker');
  const workSeconds = histogram('workqueue_work_duration_seconds', 'How long workers take for a key');

  return (name) => {
    const labels = { name, controller: name };
    const waiting = new Map<string, number>();
    const working = new Map<string, number>();
    states.set(name, { waiting, working });
    for (const zero of [adds, retries]) zero.inc(labels, 0);
    /** Observes the time of a key, and removes it. */
    const end = (keys: Map<string, number>, key: string, seconds: Histogram<'name' | 'controller'>): void => {
      const since = keys.get(key);
      if (since !== undefined) seconds.observe(labels, secondsSince(since));
      keys.delete(key);
    };
    return {
      added: (key) => {
        adds.inc(labels);
        waiting.set(key, clock.monotonic());
      },
      taken: (key) => {
        end(waiting, key, queueSeconds);
        working.set(key, clock.monotonic());
      },
      finished: (key) => end(working, key, workSeconds),
      delayed: () => retries.inc(labels),
      stopped: () => waiting.clear(),
    };
  };
};
