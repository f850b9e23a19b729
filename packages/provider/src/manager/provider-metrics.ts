import { metricNames } from '@tartan/api';
import { createMetrics, describeMetrics, getCondition, type MetricDescription, untilAborted } from '@tartan/kube';
import { type Clock, manualClock } from '@tartan/kube/clock';
import { type CallReport, operations, type WaitReport } from '@tartan/scaleway';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Informers, Machine } from '../controller-deps.ts';
import type { ReleaseCause } from '../pods/act.ts';
import type { ReapedPhase } from '../pods/reap/controller.ts';
import { createSweepMetrics } from '../sweep/metrics.ts';
import { createStateMetrics } from './state-metrics.ts';

/**
 * All metrics of the manager, in one registry. docs/reference/metrics.md is generated from it.
 */
export const createProviderMetrics = (options: { clock: Clock }) => {
  const metrics = createMetrics(options);
  const { registry } = metrics;
  return {
    ...metrics,
    /** For `onCall` of the pool. */
    scalewayCall: createScalewayMetrics(registry),
    /** For `onWait` of the pool. */
    scalewayWait: createScalewayWaitMetrics(registry),
    zoneListFailed: createZoneListErrorCounter(registry),
    sweep: createSweepMetrics(registry),
    podReleased: createReleaseCounter(registry),
    podReaped: createReapCounter(registry),
    bootstrapSeconds: createBootstrapHistogram(registry),
    state: createStateMetrics(registry),
  };
};

export type ProviderMetrics = ReturnType<typeof createProviderMetrics>;

/** A request takes 15 s at most. */
const requestBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Outcomes that do not pass without action. */
const permanentFailures = ['denied', 'unauthorized'] as const;

/** For `onCall` of the pool: counts each page and each attempt. */
export const createScalewayMetrics = (registry: Registry): ((report: CallReport) => void) => {
  const registers = [registry];
  const requests = new Counter({
    name: metricNames.scalewayRequests,
    help: 'Requests to Scaleway. Outcomes other than ok are reasons why one was not done: denied and unauthorized need a person, rate_limited and unavailable pass.',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  // Starts at zero, because a series that begins at 1 shows no increase.
  for (const operation of Object.keys(operations))
    for (const outcome of permanentFailures) requests.inc({ operation, outcome }, 0);
  const seconds = new Histogram({
    name: metricNames.scalewayRequestSeconds,
    help: 'How long Scaleway took to answer, whatever it answered.',
    labelNames: ['operation'],
    buckets: requestBuckets,
    registers,
  });
  return ({ operation, outcome, milliseconds }) => {
    requests.inc({ operation, outcome: outcome.replaceAll(' ', '_') });
    seconds.observe({ operation }, milliseconds / 1000);
  };
};

/** A pause of more than 20 s refuses a request; further pauses may follow. */
const waitBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];

/** For `onWait` of the pool. */
export const createScalewayWaitMetrics = (registry: Registry): ((report: WaitReport) => void) => {
  const registers = [registry];
  const labelNames = ['operation'] as const;
  const seconds = new Histogram({
    name: metricNames.scalewayWaitSeconds,
    help: 'How long requests to Scaleway waited for the rate limit of this process, or for a pause that Scaleway asked for.',
    labelNames,
    buckets: waitBuckets,
    registers,
  });
  const notSent = new Counter({
    name: metricNames.scalewayNotSent,
    help: 'Requests to Scaleway that were not sent: Scaleway asked for a longer pause than they may wait, or they were aborted.',
    labelNames,
    registers,
  });
  for (const operation of Object.keys(operations)) notSent.inc({ operation }, 0);
  return ({ operation, milliseconds, isSent }) => {
    seconds.observe({ operation }, milliseconds / 1000);
    if (!isSent) notSent.inc({ operation });
  };
};

/** A Mac takes some minutes; with a restart or eight attempts, an hour. */
const bootstrapBuckets = [15, 30, 60, 120, 180, 300, 450, 600, 900, 1800, 3600, 7200];

export type ObserveBootstrapSeconds = (seconds: number) => void;

export const createBootstrapHistogram = (registry: Registry): ObserveBootstrapSeconds => {
  const histogram = new Histogram({
    name: metricNames.machineBootstrapSeconds,
    help: 'From the claim of a Mac until it was bootstrapped, failed attempts included.',
    buckets: bootstrapBuckets,
    registers: [registry],
  });
  return (seconds) => histogram.observe(seconds);
};

const isProvisioned = ({ status }: Machine): boolean => status?.initialization?.provisioned === true;

/** Leader-only: watches machines become provisioned. Those that do so without a leader are not measured. */
export const watchBootstrapDurations = (
  machines: Pick<Informers['machines'], 'subscribe'>,
  clock: Clock,
  observe: ObserveBootstrapSeconds,
) => ({
  name: 'bootstrap durations',
  run: async (signal: AbortSignal): Promise<void> => {
    const unsubscribe = machines.subscribe((change) => {
      if (change.type !== 'changed' || isProvisioned(change.previous) || !isProvisioned(change.object)) return;
      const claimed = getCondition(change.object.status?.conditions, 'Provisioned');
      if (claimed?.status === 'True') observe(Math.max(0, clock.now() - Date.parse(claimed.lastTransitionTime)) / 1000);
    });
    await untilAborted(signal);
    unsubscribe();
  },
});

const counterBy = (
  registry: Registry,
  { name, help, label, values = [] }: { name: string; help: string; label: string; values?: readonly string[] },
) => {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value: string): void => counter.inc({ [label]: value });
};

/** Counts failed lists: while it grows, MacHosts of that zone are stale. */
export const createZoneListErrorCounter = (registry: Registry): ((zone: string) => void) =>
  counterBy(registry, {
    name: metricNames.zoneListErrors,
    help: 'Lists of the servers of a zone that Scaleway did not answer or refused',
    label: 'zone',
  });

const causeLabel: Record<ReleaseCause, string> = { nodeGone: 'node_gone', neverBound: 'never_bound' };

/** Counts Pods whose finalizer was removed without their agent. A steady increase means that Macs die with Pods on them. */
export const createReleaseCounter = (registry: Registry): ((cause: ReleaseCause) => void) => {
  const count = counterBy(registry, {
    name: 'tart_pods_released_total',
    help: 'Pods whose vm-cleanup finalizer was removed because no agent was left to do it',
    label: 'cause',
    values: Object.values(causeLabel),
  });
  return (cause) => count(causeLabel[cause]);
};

/** Counts ended Pods that were deleted so that their Mac could be released. */
export const createReapCounter = (registry: Registry): ((phase: ReapedPhase) => void) =>
  counterBy(registry, {
    name: metricNames.podsReaped,
    help: 'Pods that had ended and were deleted since they held up the drain of their Mac',
    label: 'phase',
    values: ['succeeded', 'failed'] satisfies ReapedPhase[],
  });

/** The metrics of the manager: its own, and those that every controller process has. */
export const metricsTable = (): {
  readonly own: readonly MetricDescription[];
  readonly runtime: readonly MetricDescription[];
} => {
  const clock = manualClock();
  const runtime = describeMetrics(createMetrics({ clock }).registry);
  const common = new Set(runtime.map(({ name }) => name));
  return {
    own: describeMetrics(createProviderMetrics({ clock }).registry).filter(({ name }) => !common.has(name)),
    runtime,
  };
};
