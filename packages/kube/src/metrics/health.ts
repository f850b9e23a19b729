import type { Clock } from '../clock/clock.ts';
import { fired } from '../controller/fired.ts';
import type { ManagerResult } from '../controller/manager.ts';
import type { BindAddress } from '../flags/types/network-types.ts';
import type { Logger } from '../logs/logger.ts';
import type { Metrics } from './create-metrics.ts';
import { createHealthServer, type HealthServer } from './serve.ts';

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
  readonly options: {
    readonly healthAddress: BindAddress | undefined;
    readonly metricsAddress: BindAddress | undefined;
  };
  readonly metrics: Pick<Metrics, 'text'>;
  readonly clock: Clock;
  readonly log: Logger;
}

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
      await Promise.allSettled([fired(stop), ...runs]);
      failed.signal.throwIfAborted();
    },
  };
};

/** Serves as long as `work` goes on. One that cannot listen ends the work, and is why it failed. */
export const whileServing = async (
  health: Pick<Health, 'run'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<ManagerResult>,
): Promise<ManagerResult> => {
  const over = new AbortController();
  const broken = new AbortController();
  let why: string | undefined;
  const serving = health.run(over.signal).catch((error: unknown) => {
    why = error instanceof Error ? error.message : String(error);
    broken.abort();
  });
  const result = await work(AbortSignal.any([signal, broken.signal]));
  over.abort();
  await serving;
  return why === undefined ? result : { ok: false, reason: why };
};
