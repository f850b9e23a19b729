import type { Logger, Redactor, Transport } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { HostPool } from '@tartan/scaleway';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import type { HostWork } from '../host-work/host-work.ts';
import type { Limits } from '../mac-host/limits.ts';
import type { ProviderMetrics } from './provider-metrics.ts';

/** All that a manager is made of. The caller owns transport and pool, and closes them when `run` has ended. */
export interface ProviderParts {
  readonly options: ProviderOptions;
  readonly transport: Transport;
  /** Host and port of the API server, for metrics. */
  readonly apiHost: string;
  /** PEM: the authority of the cluster, for Macs and for core. Undefined when everybody trusts it anyway. */
  readonly ca: string | undefined;
  readonly pool: HostPool;
  readonly settings: HostSettings;
  /** SSH unless told. */
  readonly hostWork?: HostWork;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** That of the log: it is told of every secret that is made or read. */
  readonly redactor: Redactor;
  /** No other process has it, also not this one when it is restarted. */
  readonly identity: string;
  /** One of its own unless given: whoever meters the pool gives the one that hears of its calls. */
  readonly metrics?: ProviderMetrics;
  readonly intervals?: Partial<Intervals>;
}

/** How patient the manager is. Each has a value that fits production; what people may want to change is a flag. */
export interface Intervals {
  /** For core to be found, and again for the first lists of all caches. */
  readonly syncDeadlineMs: number;
  readonly coreRetryMs: number;
  readonly rightsRetryMs: number;
  readonly rightsAgainMs: number;
  /** For everything to stop. Kubernetes kills after 30 s. */
  readonly stopDeadlineMs: number;
  /** Between two lists of a zone. */
  readonly inventoryMs: number;
  /** Of what is done to servers at Scaleway. */
  readonly hosts: Partial<Limits>;
}

const usualIntervals: Omit<Intervals, 'inventoryMs' | 'hosts'> = {
  syncDeadlineMs: 120_000,
  coreRetryMs: 5_000,
  rightsRetryMs: 60_000,
  rightsAgainMs: 10 * 60_000,
  stopDeadlineMs: 25_000,
};

/** So many looks at a server that should be reinstalling, and it is asked for once more. */
const looksUntilAccepted = 12;
/** So many, and a machine that finds no Mac gets one reinstalled for it. */
const looksUntilDemand = 6;

/** Longer than `landMs` with the usual interval, on which managers that share a Scaleway project rely. */
const looksUntilSettled = 2;
/** Longer than the usual interval between two lists of a zone. */
const looksInDoubt = 18;

export const intervalsOf = ({ options: { asking }, intervals }: ProviderParts): Intervals => {
  const { pollMs = asking.hostMs } = intervals?.hosts ?? {};
  return {
    ...usualIntervals,
    inventoryMs: asking.inventoryMs,
    ...intervals,
    hosts: {
      pollMs,
      settleMs: looksUntilSettled * pollMs,
      doubtMs: looksInDoubt * pollMs,
      acceptMs: looksUntilAccepted * asking.hostMs,
      demandMs: looksUntilDemand * asking.hostMs,
      ...intervals?.hosts,
    },
  };
};
