import { createHealthServer, type HealthServer, type Logger, type Metrics } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ProviderOptions } from '../flags/provider-options.ts';

export interface Health {
  readonly readyz: HealthServer['readyz'];
  /** Undefined for what is not served. */
  readonly addresses: {
    readonly probes: HealthServer['address'] | undefined;
    readonly metrics: HealthServer['address'] | undefined;
  };
  /** Serves until the signal fires. Rejects when one of the addresses cannot be listened on. */
  run(signal: AbortSignal): Promise<void>;
}

interface HealthOptions {
  readonly options: Pick<ProviderOptions, 'healthAddress' | 'metricsAddress'>;
  readonly metrics: Pick<Metrics, 'text'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export const untilFired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Two addresses, as kubelet asks one and Prometheus the other, and a network policy may tell them apart. */
export const createHealth = ({ options, metrics, clock, log }: HealthOptions): Health => {
  const { healthAddress, metricsAddress } = options;
  const probes = healthAddress && createHealthServer({ ...healthAddress, clock, log });
  const scraped = metricsAddress && createHealthServer({ ...metricsAddress, metrics: metrics.text, clock, log });
  const servers = [probes, scraped].filter((server) => server !== undefined);
  return {
    readyz: probes?.readyz ?? new Map(),
    addresses: { probes: probes?.address, metrics: scraped?.address },
    run: async (signal) => {
      const failed = new AbortController();
      const stop = AbortSignal.any([signal, failed.signal]);
      const runs = servers.map((server) => server.run(stop));
      for (const run of runs) run.catch((error: unknown) => failed.abort(error));
      await Promise.allSettled([untilFired(stop), ...runs]);
      failed.signal.throwIfAborted();
    },
  };
};
