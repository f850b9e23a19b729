import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../clock/clock.ts';
import type { QueueObserver } from '../workqueue/work-queue.ts';

/** 10 ns to 1000 s, as client-go has them. */
const secondsBuckets = exponentialBuckets(10e-9, 10, 12);

/** What one queue holds now: since when each key waits, or is worked on. */
interface QueueState {
  name: string;
  waiting: Map<string, number>;
  working: Map<string, number>;
}

/**
 * Gauges are counted when somebody asks, from what the queues hold: they cannot drift. Two queues may have the same name, when a
 * controller runs again while a pass of its last run is not over; then they are added up. `controller` repeats the name, as in
 * controller-runtime; its `priority` label of the depth is left out, for keys have none here.
 */
export const createQueueMetrics = (registry: Registry, clock: Clock): ((name: string) => QueueObserver) => {
  const names = new Set<string>();
  const holdings = new Set<QueueState>();
  const registers = [registry];
  const labelNames = ['name', 'controller'] as const;
  const agesOf = (keys: ReadonlyMap<string, number>): number[] =>
    [...keys.values()].map((since) => (clock.monotonic() - since) / 1000);

  const gauge = (metric: string, help: string, measure: (held: readonly QueueState[]) => number): void => {
    const collector = new Gauge({
      name: metric,
      help,
      labelNames,
      registers,
      collect: () => {
        for (const name of names)
          collector.set({ name, controller: name }, measure([...holdings].filter((holding) => holding.name === name)));
      },
    });
  };
  const counter = (name: string, help: string): Counter<'name' | 'controller'> =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string): Histogram<'name' | 'controller'> =>
    new Histogram({ name, help, labelNames, buckets: secondsBuckets, registers });

  gauge('workqueue_depth', 'Keys that want a worker', (held) =>
    held.reduce((sum, { waiting }) => sum + waiting.size, 0),
  );
  gauge('workqueue_unfinished_work_seconds', 'How long the keys being worked on have been so, added up', (held) =>
    held.flatMap(({ working }) => agesOf(working)).reduce((sum, age) => sum + age, 0),
  );
  gauge('workqueue_longest_running_processor_seconds', 'How long the slowest worker has been at its key', (held) =>
    Math.max(0, ...held.flatMap(({ working }) => agesOf(working))),
  );
  const adds = counter('workqueue_adds_total', 'Keys added');
  const retries = counter('workqueue_retries_total', 'Keys that were asked to come later: retries and delays');
  const queueSeconds = histogram('workqueue_queue_duration_seconds', 'How long keys wait for a worker');
  const workSeconds = histogram('workqueue_work_duration_seconds', 'How long workers take for a key');

  return (name) => {
    const labels = { name, controller: name };
    const holding: QueueState = { name, waiting: new Map(), working: new Map() };
    let stopped = false;
    names.add(name);
    holdings.add(holding);
    for (const zero of [adds, retries]) zero.inc(labels, 0);
    const observeAge = (histogram: Histogram<'name' | 'controller'>, since: number | undefined): void => {
      if (since !== undefined) histogram.observe(labels, (clock.monotonic() - since) / 1000);
    };
    const leaveWhenEmpty = (): void => {
      if (stopped && holding.working.size === 0) holdings.delete(holding);
    };
    return {
      added: (key) => {
        adds.inc(labels);
        holding.waiting.set(key, clock.monotonic());
      },
      taken: (key) => {
        observeAge(queueSeconds, holding.waiting.get(key));
        holding.waiting.delete(key);
        holding.working.set(key, clock.monotonic());
      },
      finished: (key) => {
        observeAge(workSeconds, holding.working.get(key));
        holding.working.delete(key);
        leaveWhenEmpty();
      },
      delayed: () => retries.inc(labels),
      stopped: () => {
        stopped = true;
        holding.waiting.clear();
        leaveWhenEmpty();
      },
    };
  };
};
