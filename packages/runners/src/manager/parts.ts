import type { Logger, Transport } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { RunnersOptions } from '../flags/runners-options.ts';
import type { RunnerMetrics } from '../metrics/runner-metrics.ts';

/** All that a runners controller is made of. The caller owns the transport, and closes it when `run` has ended. */
export interface RunnersParts {
  readonly options: RunnersOptions;
  readonly transport: Transport;
  /** Host and port of the API server, for metrics. */
  readonly apiHost: string;
  /** How GitHub is asked. The one of the platform unless told. */
  readonly fetch?: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** Unguessable: names of runners are made of it. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  /** No other process has it, also not this one when it is restarted. */
  readonly identity: string;
  /** One of its own unless given. */
  readonly metrics?: RunnerMetrics;
  readonly intervals?: Partial<Intervals>;
}

/** How patient the controller is. Each has a value that fits production; what people may want to change is a flag. */
export interface Intervals {
  /** For the first lists of all caches. */
  readonly syncDeadlineMs: number;
  /** For everything to stop. Kubernetes kills after 30 s. */
  readonly stopDeadlineMs: number;
}

export const usualIntervals: Intervals = { syncDeadlineMs: 120_000, stopDeadlineMs: 25_000 };
