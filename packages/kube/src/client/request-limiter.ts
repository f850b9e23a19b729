import type { Clock, Random } from '../clock/clock.ts';
import { abortError } from '../errors/abort-signal.ts';
import { createTokenBucket } from '../workqueue/rate-limiter.ts';
import { createRefusals, type RequestKind } from './refusals.ts';

export interface RequestLimits {
  /** Requests per second, on average. */
  qps: number;
  /** Requests at once after a quiet time. */
  burst: number;
  maxInFlight: number;
}

interface RequestLimiterOptions extends RequestLimits {
  clock: Clock;
  random: Random;
  /**
   * Called once for each request, when it gets its place or gives up, with the time for which these limits held it back. A pause that the
   * server asked for does not count.
   */
  onWait?: (kind: RequestKind, milliseconds: number) => void;
}

/**
 * Limits the requests of a process to an API server.
 * Guarantees: flows take turns, so a flow with one request waits for at most one request of each other flow. Within a flow, requests go in
 * the order of their arrival, except for those that the server wants later. A request whose signal fires leaves the queue and costs nothing.
 */
export interface RequestLimiter {
  /** The requests of one controller. */
  flow(name: string): RequestFlow;
}

export interface RequestFlow {
  /** Waits for a place. Rejects only when the signal fires. */
  acquire(kind: RequestKind, signal: AbortSignal): Promise<Place>;
}

/** One request in flight. */
export interface Place {
  /** The server's answer names this priority level. */
  answered(priorityLevel: string | undefined): void;
  /**
   * The server wants this request later. Releases the place. All requests of the kind or of the priority level wait until then.
   * Returns in how many milliseconds to acquire a new place; undefined: never.
   */
  refused(scope: 'kind' | 'priorityLevel', retryAfterMs: number | undefined): number | undefined;
  /** Further calls do nothing. */
  release(): void;
}

interface Waiter {
  kind: RequestKind;
  enter(place: Place): void;
}

export const createRequestLimiter = (options: RequestLimiterOptions): RequestLimiter => {
  const { clock, random, qps, burst, maxInFlight, onWait = () => {} } = options;
  const bucket = createTokenBucket(clock, { perSecond: qps, burst });
  const refusals = createRefusals({ clock, random, maxInFlight });
  /** Only flows with waiting requests. The flow that was served last is at the end. */
  const queues = new Map<string, Set<Waiter>>();
  /** When the token for the next request is available. A token that nobody used is kept. */
  let tokenAt: number | undefined;
  let inFlight = 0;
  let cancelTimer = (): void => {};

  const createPlace = (kind: RequestKind): Place => {
    inFlight++;
    const leave = refusals.enter(kind);
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      inFlight--;
      leave();
      serve();
    };
    return {
      answered: (priorityLevel) => refusals.learn(kind, priorityLevel),
      refused: (scope, retryAfterMs) => {
        const wait = refusals.add(kind, scope, retryAfterMs);
        release();
        return wait;
      },
      release,
    };
  };

  const dequeue = (flow: string, waiter: Waiter): void => {
    const queue = queues.get(flow);
    queue?.delete(waiter);
    if (queue?.size === 0) queues.delete(flow);
  };

  /** The next request that may go, or in how many milliseconds one may. */
  const next = (): { flow: string; waiter: Waiter } | number => {
    let soonest = Number.POSITIVE_INFINITY;
    for (const [flow, queue] of queues)
      for (const waiter of queue) {
        const wait = refusals.waitMs(waiter.kind);
        if (wait <= 0) return { flow, waiter };
        soonest = Math.min(soonest, wait);
      }
    return soonest;
  };

  const tokenWaitMs = (): number => {
    tokenAt ??= clock.monotonic() + bucket.reserve();
    return tokenAt - clock.monotonic();
  };

  /** Lets one request go, or returns in how many milliseconds to try again, unless a place is released before. */
  const serveOne = (): number => {
    if (inFlight >= maxInFlight) return Number.POSITIVE_INFINITY;
    const turn = next();
    if (typeof turn === 'number') return turn;
    const wait = tokenWaitMs();
    if (wait > 0) return wait;
    tokenAt = undefined;
    const { flow, waiter } = turn;
    dequeue(flow, waiter);
    const rest = queues.get(flow);
    if (rest) {
      queues.delete(flow);
      queues.set(flow, rest);
    }
    waiter.enter(createPlace(waiter.kind));
    return 0;
  };

  const serve = (): void => {
    cancelTimer();
    let wait = 0;
    while (wait <= 0) wait = serveOne();
    cancelTimer = Number.isFinite(wait) ? clock.after(Math.ceil(wait), serve) : () => {};
  };

  return {
    flow: (name) => ({
      acquire: (kind, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(abortError(signal));
          const since = clock.monotonic();
          const report = (): void => {
            const heldSince = Math.max(since, refusals.pausedUntil(kind) ?? since);
            onWait(kind, Math.max(0, clock.monotonic() - heldSince));
          };
          const abort = (): void => {
            dequeue(name, waiter);
            report();
            reject(abortError(signal));
          };
          const waiter: Waiter = {
            kind,
            enter: (place) => {
              signal.removeEventListener('abort', abort);
              report();
              resolve(place);
            },
          };
          signal.addEventListener('abort', abort, { once: true });
          const queue = queues.get(name);
          if (queue) queue.add(waiter);
          else queues.set(name, new Set([waiter]));
          serve();
        }),
    }),
  };
};

/** Lets every request go at once, and once. */
export const unlimited: RequestFlow = {
  acquire: async () => ({ answered: () => {}, refused: () => undefined, release: () => {} }),
};
