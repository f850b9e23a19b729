import { agentMetricNames as names, labels } from '@tartan/api';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { PodObserver } from '../pods/world.ts';

type Pod = Parameters<PodObserver['booted']>[0];

/** 5 to 9 s warm, minutes for the first boot of a fresh image. */
const bootBuckets = [10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600];
/** Up to an hour: with a last bucket of ten minutes everything slow looked the same (INC-55). */
const provisionBuckets = [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600, 1200, 1800, 3600];

const poolOf = (pod: Pod): string => pod.metadata?.labels?.[labels.runnerPool] ?? 'unknown';

/** How long Pods take to become virtual machines. Whoever starts one tells, once for each start (INC-56). */
export const createPodMetrics = (registry: Registry): PodObserver => {
  const registers = [registry];
  const boot = new Histogram({
    name: names.vmBootSeconds,
    help: 'From the start of a virtual machine to its address',
    labelNames: ['pool'],
    buckets: bootBuckets,
    registers,
  });
  const delay = new Histogram({
    name: names.podProvisionDelaySeconds,
    help: 'From the creation of a Pod to the start of its virtual machine',
    labelNames: ['pool'],
    buckets: provisionBuckets,
    registers,
  });
  const work = new Histogram({
    name: names.vmProvisionWorkSeconds,
    help: 'For the golden base and the clone of it: path is warm if the base was there, else cold',
    labelNames: ['pool', 'path'],
    buckets: provisionBuckets,
    registers,
  });
  const materialized = new Counter({
    name: names.goldenBaseMaterialized,
    help: 'Pods for which a golden base had to be made',
    labelNames: ['pool'],
    registers,
  });
  const reused = new Counter({
    name: names.goldenBaseReused,
    help: 'Pods whose golden base was there',
    labelNames: ['pool'],
    registers,
  });
  // The clock of the Mac may have been set back since.
  const seconds = (milliseconds: number): number => Math.max(0, milliseconds) / 1000;
  return {
    provisioned: (pod, from, tookMs) => {
      const pool = poolOf(pod);
      work.observe({ pool, path: from === 'warm' ? 'warm' : 'cold' }, seconds(tookMs));
      (from === 'warm' ? reused : materialized).inc({ pool });
    },
    starting: (pod, delayMs) => delay.observe({ pool: poolOf(pod) }, seconds(delayMs)),
    booted: (pod, tookMs) => boot.observe({ pool: poolOf(pod) }, seconds(tookMs)),
  };
};
