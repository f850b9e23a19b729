import { agentMetricNames as names, labels } from '@tartan/api';
import {
  Counter,
  createMetrics,
  createScrapeGauges,
  describeMetrics,
  Gauge,
  Histogram,
  type MetricDescription,
  type Metrics,
  type Registry,
} from '@tartan/kube';
import { type Clock, manualClock } from '@tartan/kube/clock';
import type { Validity } from '../certificates/x509.ts';
import type { GuestDiskUsage, VmSlots } from '../facts/host-facts.ts';
import type { GarbageReason } from '../gc/decide.ts';
import type { PodMetrics } from '../pods/context.ts';
import type { StartHealth } from '../vm-start/start-health.ts';

export interface MacMetricsOptions {
  readonly clock: Clock;
  /** Called at every scrape. Creation time of the oldest Pod whose VM has not started, if any. */
  readonly oldestWaitingSince: () => number | undefined;
  readonly pullsInProgress: () => number;
  /** Client certificate for the API server, and serving certificate of the kubelet API. Undefined: none. */
  readonly certificates: () => Readonly<Record<'client' | 'serving', Validity | undefined>>;
}

const gcReasonLabels: Readonly<Record<GarbageReason, string>> = {
  'orphan clone': 'orphan_clone',
  'stale image': 'stale_image',
  'stale golden base': 'stale_golden_base',
  'under pressure': 'pressure',
};

export const createMacMetrics = (registry: Registry, options: MacMetricsOptions) => {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers });
  const guestDisk = gauge(
    names.guestDiskUsagePercent,
    'How full the system disk of a running virtual machine is, seen from inside',
    'vm',
  );
  const slots = gauge(names.vmSlots, 'Virtual machines that may run at a time');
  const taken = gauge(names.vmSlotsTaken, 'Running virtual machines, including those that the agent did not start');
  const startRefused = gauge(
    names.vmStartRefused,
    'Whether virtual machines do not start on this Mac: reason is starts_refused or slots_leaked. Alert on it',
    'reason',
  );
  const setStartHealth = (health: StartHealth): void => {
    startRefused.set({ reason: 'starts_refused' }, health.kind === 'refused' ? 1 : 0);
    startRefused.set({ reason: 'slots_leaked' }, health.kind === 'slots leaked' ? 1 : 0);
  };
  setStartHealth({ kind: 'works' });
  const scrapeGauge = createScrapeGauges(registry, () => options);
  scrapeGauge(
    names.oldestWaitingPodSeconds,
    // A count would not distinguish one Pod that waits for hours from many that wait for a moment (INC-72).
    'Age of the oldest Pod of this Mac whose virtual machine has not started. Zero when there is none: alert on it',
    [],
    (gauge, { clock, oldestWaitingSince }) => {
      const since = oldestWaitingSince();
      gauge.set(since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000);
    },
  );
  scrapeGauge(
    names.imagePullsUnderWay,
    'Images that are being fetched, or wait for their turn',
    [],
    (gauge, { pullsInProgress }) => gauge.set(pullsInProgress()),
  );
  const certificateTime = (name: string, what: string, bound: keyof Validity): void =>
    scrapeGauge(
      name,
      `${what} the certificate of this Mac is good: certificate is client or serving. Zero while it has none`,
      ['certificate'],
      (gauge, { certificates }) => {
        for (const [certificate, validity] of Object.entries(certificates()))
          gauge.set({ certificate }, (validity?.[bound] ?? 0) / 1000);
      },
    );
  certificateTime(names.certificateStart, 'Since when', 'notBefore');
  certificateTime(names.certificateEnd, 'Until when', 'notAfter');
  const collected = new Counter({
    name: names.collected,
    help: 'Virtual machines and images that the garbage collector deleted: reason is orphan_clone, stale_image, stale_golden_base or pressure',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of Object.values(gcReasonLabels)) collected.inc({ reason }, 0);
  return {
    /** What was observed on the Mac. A guest that is missing in the list is gone. */
    setObserved: (found: {
      readonly slots?: VmSlots;
      readonly guestDisks?: readonly GuestDiskUsage[];
      readonly vmStart?: StartHealth;
    }) => {
      if (found.slots !== undefined) {
        slots.set(found.slots.total);
        taken.set(found.slots.taken);
      }
      if (found.vmStart !== undefined) setStartHealth(found.vmStart);
      if (found.guestDisks === undefined) return;
      guestDisk.reset();
      for (const { vm, usedPercent } of found.guestDisks) guestDisk.set({ vm }, usedPercent);
    },
    garbageCollected: (reason: GarbageReason) => collected.inc({ reason: gcReasonLabels[reason] }),
  };
};

export type MacMetrics = ReturnType<typeof createMacMetrics>;

type Pod = Parameters<PodMetrics['booted']>[0];

/** 5 to 9 s warm, minutes for the first boot of a fresh image. */
const bootBuckets = [10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600];
/** Up to an hour: with a last bucket of ten minutes everything slow looked the same (INC-72). */
const provisionBuckets = [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600, 1200, 1800, 3600];

const poolOf = (pod: Pod): string => pod.metadata?.labels?.[labels.runnerPool] ?? 'unknown';

/** Durations from Pod to running VM. Each is recorded once per start. */
export const createPodMetrics = (registry: Registry): PodMetrics => {
  const registers = [registry];
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: ['pool'], registers });
  const boot = histogram(
    names.vmBootSeconds,
    'From the start of a virtual machine to its address',
    bootBuckets,
    'pool',
  );
  const provisionDelay = histogram(
    names.podProvisionDelaySeconds,
    'From the creation of a Pod to the start of its virtual machine',
    provisionBuckets,
    'pool',
  );
  const provisionWork = histogram(
    names.vmProvisionWorkSeconds,
    'For the golden base and the clone of it: path is warm if the base was there, else cold',
    provisionBuckets,
    'pool',
    'path',
  );
  const materialized = counter(names.goldenBaseMaterialized, 'Pods for which a golden base had to be made');
  const reused = counter(names.goldenBaseReused, 'Pods whose golden base was there');
  // The Mac's clock may have been set back.
  const seconds = (milliseconds: number): number => Math.max(0, milliseconds) / 1000;
  return {
    provisioned: (pod, from, tookMs) => {
      const pool = poolOf(pod);
      provisionWork.observe({ pool, path: from === 'warm' ? 'warm' : 'cold' }, seconds(tookMs));
      (from === 'warm' ? reused : materialized).inc({ pool });
    },
    starting: (pod, delayMs) => provisionDelay.observe({ pool: poolOf(pod) }, seconds(delayMs)),
    booted: (pod, tookMs) => boot.observe({ pool: poolOf(pod) }, seconds(tookMs)),
  };
};

/** All metrics of the agent in one registry; `/metrics` serves `text()`. docs/reference/metrics.md is generated from it. */
export interface AgentMetrics extends Metrics, MacMetrics {
  readonly pods: PodMetrics;
}

/**
 * The standard process metrics that are useful on a Mac. Not prom-client's default metrics: these measure the delay of the event loop with
 * a timer that fires a hundred times a second, and observe every garbage collection. They take 2 MB.
 */
const registerProcessMetrics = (registry: Registry, clock: Clock): void => {
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'CPU time that the agent has used, without its child processes',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
  const startedAt = clock.now() / 1000 - process.uptime();
  const scrapeGauge = createScrapeGauges(registry, () => process);
  scrapeGauge('process_resident_memory_bytes', 'Resident memory of the agent', [], (gauge, { memoryUsage }) =>
    gauge.set(memoryUsage.rss()),
  );
  scrapeGauge('process_start_time_seconds', 'When the agent started, since the epoch', [], (gauge) =>
    gauge.set(startedAt),
  );
};

export const createAgentMetrics = (options: MacMetricsOptions): AgentMetrics => {
  const { clock } = options;
  const metrics = createMetrics({ clock });
  const { registry } = metrics;
  registerProcessMetrics(registry, clock);
  return { ...metrics, ...createMacMetrics(registry, options), pods: createPodMetrics(registry) };
};

/** The agent's metrics beyond those of every controller process. */
export const agentMetricRows = (): readonly MetricDescription[] => {
  const clock = manualClock();
  const common = new Set(describeMetrics(createMetrics({ clock }).registry).map(({ name }) => name));
  const { registry } = createAgentMetrics({
    clock,
    oldestWaitingSince: () => undefined,
    pullsInProgress: () => 0,
    certificates: () => ({ client: undefined, serving: undefined }),
  });
  return describeMetrics(registry).filter(({ name }) => !common.has(name));
};
