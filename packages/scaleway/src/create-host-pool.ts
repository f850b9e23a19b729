import { type Clock, type Random, systemClock } from '@tartan/kube/clock';
import type { Caller } from './calls/caller.ts';
import { keyCalls } from './calls/keys.ts';
import { serverCalls } from './calls/servers.ts';
import { checkSettings } from './check-settings.ts';
import { createRedaction } from './errors/redaction.ts';
import type { HostPool } from './host-pool.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { sdkCall } from './http/sdk-call.ts';
import type { CallReport, TransportOptions } from './http/transport.ts';

export interface HostPoolOptions {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly projectID: string;
  /** `https://api.scaleway.com` */
  readonly apiURL?: string;
  /** Requests per second over all calls of this pool, one second's worth at once. 10: Scaleway publishes no limit. */
  readonly rate?: number;
  /** Milliseconds for one try, its whole answer included. 15,000 */
  readonly deadline?: number;
  /** How often a call that may be repeated goes out at most. 4 */
  readonly tries?: number;
  /** The longest that a call waits for the reset time of a 429, in milliseconds. 20,000; a later one rejects with `rate limited`. */
  readonly longestWait?: number;
  /** Hears of each request that went out. Must not throw. */
  readonly onCall?: (report: CallReport) => void;
  readonly clock?: Clock;
  readonly random?: Random;
  /** The way out. Node's own keeps connections alive. */
  readonly fetch?: typeof fetch;
}

/** The Macs of a project at Scaleway. Throws `invalid` for settings that cannot be right; sends nothing yet. */
export const createHostPool = (options: HostPoolOptions): HostPool => {
  const { accessKey, secretKey, projectID, apiURL = 'https://api.scaleway.com', clock = systemClock } = options;
  const settings = checkSettings({ accessKey, secretKey, projectID, apiURL });
  const redaction = createRedaction(secretKey);
  const transport: TransportOptions = {
    fetch: options.fetch ?? fetch,
    clock,
    random: options.random ?? Math.random,
    limit: createRateLimit(clock, options.rate ?? 10),
    deadline: options.deadline ?? 15_000,
    tries: options.tries ?? 4,
    longestWait: options.longestWait ?? 20_000,
    redaction,
    onCall: options.onCall ?? (() => {}),
  };

  const caller: Caller = {
    ask: (operation, what, answer, { signal }, ask) =>
      sdkCall(settings, { operation, what, answer, signal }, transport, ask),
    projectID,
    hide: redaction.remember,
  };
  return { ...serverCalls(caller), ...keyCalls(caller) };
};
