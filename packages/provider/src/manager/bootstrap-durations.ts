import { metricNames, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { fired, getCondition, type Live, type WatchCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { Histogram, type Registry } from 'prom-client';

/** A Mac takes some minutes; one that had to be restarted, or tried eight times, an hour. */
const secondsBuckets = [15, 30, 60, 120, 180, 300, 450, 600, 900, 1800, 3600, 7200];

export type BootstrapSeconds = (seconds: number) => void;

export const createBootstrapHistogram = (registry: Registry): BootstrapSeconds => {
  const histogram = new Histogram({
    name: metricNames.machineBootstrapSeconds,
    help: 'From having claimed a Mac until it was made ready, failed tries included.',
    buckets: secondsBuckets,
    registers: [registry],
  });
  return (seconds) => histogram.observe(seconds);
};

type Machine = ScalewayAppleSiliconMachine;

const isProvisioned = ({ status }: Live<Machine>): boolean => status?.initialization?.provisioned === true;

/** Leader-only: watches machines become provisioned. Whoever does so while nobody leads is not measured. */
export const bootstrapDurations = (
  machines: Pick<WatchCache<Machine>, 'subscribe'>,
  clock: Clock,
  observe: BootstrapSeconds,
) => ({
  name: 'bootstrap durations',
  run: async (signal: AbortSignal): Promise<void> => {
    const unsubscribe = machines.subscribe((change) => {
      if (change.type !== 'changed' || isProvisioned(change.previous) || !isProvisioned(change.object)) return;
      const claimed = getCondition(change.object.status?.conditions, 'Provisioned');
      if (claimed?.status === 'True') observe(Math.max(0, clock.now() - Date.parse(claimed.lastTransitionTime)) / 1000);
    });
    await fired(signal);
    unsubscribe();
  },
});
