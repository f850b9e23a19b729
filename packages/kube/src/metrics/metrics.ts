import type { Clock } from '../clock/clock.ts';
import type { ReconcileObserver } from '../controller/reconcile.ts';
import type { LeaderMetric } from '../leader/election.ts';
import type { Transport } from '../transport/transport.ts';
import type { QueueObserver } from '../workqueue/work-queue.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { Counter, Gauge, Histogram, Registry } from './prometheus.ts';
import { createQueueMetrics } from './workqueue-metrics.ts';

/** Metrics of a controller process, with the names, labels and buckets of controller-runtime. */
export interface Metrics {
  /** For additional metrics. */
  readonly registry: Registry;
  controller(name: string): ReconcileObserver;
  /** A new queue replaces the previous one of that name. */
  queue(name: string): QueueObserver;
  countRequest(request: RequestSample): void;
  requestWaited(wait: RequestWait): void;
  readonly setLeader: LeaderMetric;
  /** Prometheus' text format. */
  text(): Promise<{ contentType: string; body: string }>;
}

export const createMetrics = ({ clock }: { clock: Clock }): Metrics => {
  const registry = new Registry();
  return {
    registry,
    controller: createControllerMetrics(registry),
    queue: createQueueMetrics(registry, clock),
    countRequest: createRequestMetrics(registry),
    requestWaited: createRequestWaitMetrics(registry),
    setLeader: createLeaderMetrics(registry),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
};

/** One finished request to an API server. Without a response the code is `<error>`, as in client-go. */
export interface RequestSample {
  code: number | undefined;
  method: string;
  /** Host and port. */
  host: string;
}

const createRequestMetrics = (registry: Registry): ((request: RequestSample) => void) => {
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by code, method and host',
    labelNames: ['code', 'method', 'host'],
    registers: [registry],
  });
  return ({ code, method, host }) =>
    requests.inc({ code: code === undefined ? '<error>' : String(code), method, host });
};

/** For how long the limits of this process held a request back. */
interface RequestWait {
  /** The method of HTTP, as in client-go. */
  verb: string;
  /** Host and port. */
  host: string;
  seconds: number;
}

/** Exactly client-go's, as Kubernetes registers them. */
const waitBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const createRequestWaitMetrics = (registry: Registry): ((wait: RequestWait) => void) => {
  const waits = new Histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'How long requests to the API server waited for the limits of this process (--kube-api-qps and others)',
    labelNames: ['verb', 'host'],
    buckets: waitBuckets,
    registers: [registry],
  });
  return ({ verb, host, seconds }) => waits.observe({ verb, host }, seconds);
};

/** Counts every request of a transport when its response begins, or when it fails. `host` is for the label. */
export const withRequestMetrics = (
  transport: Transport,
  { host, count }: { host: string; count: (request: RequestSample) => void },
): Transport => ({
  close: () => transport.close(),
  send: async (request) => {
    const { method } = request;
    try {
      const response = await transport.send(request);
      count({ code: response.code, method, host });
      return response;
    } catch (error) {
      count({ code: undefined, method, host });
      throw error;
    }
  },
});

/** Whether this process holds the lease, and the lease transitions. */
const createLeaderMetrics = (registry: Registry): LeaderMetric => {
  const registers = [registry];
  const labelNames = ['name'] as const;
  const status = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease, else 0',
    labelNames,
    registers,
  });
  // Counted in the Lease itself: a process that restarts after each loss would always start at zero.
  const transitions = new Gauge({
    name: 'leader_election_lease_transitions',
    help: 'How often the lease has changed holders since its creation. Only the holder reports it',
    labelNames,
    registers,
  });
  return (name, leads, count) => {
    status.set({ name }, leads ? 1 : 0);
    if (leads && count !== undefined) transitions.set({ name }, count);
    else transitions.remove({ name });
  };
};

/** Creates a gauge that is recomputed at every scrape, so that deleted objects lose their series. */
export type ScrapeGauge<State> = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  fill: (gauge: Gauge<Label>, state: State) => void,
) => void;

/** `state` returns undefined when there is nothing to report. */
export const createScrapeGauges =
  <State>(registry: Registry, state: () => State | undefined): ScrapeGauge<State> =>
  (name, help, labelNames, fill) => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        const current = state();
        if (current !== undefined) fill(this, current);
      },
    });
    // Between scrapes the series of thousands of machines would only take up memory.
    const collect = gauge.get.bind(gauge);
    gauge.get = async () => {
      gauge.reset();
      const collected = await collect();
      gauge.reset();
      return collected;
    };
    registry.registerMetric(gauge);
  };

/** One metric, for the docs. */
export interface MetricDescription {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const labelsOf = (metric: object): string[] =>
  'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];

/** The metrics of a registry by name: the docs are generated from it. */
export const describeMetrics = (registry: Registry): MetricDescription[] =>
  registry
    .getMetricsAsArray()
    .map((metric) => ({
      name: metric.name,
      type: String(metric.type),
      labels: labelsOf(metric),
      help: metric.help,
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
