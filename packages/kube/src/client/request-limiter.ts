import type { Clock } from '../clock/clock.ts';
import { abortError } from '../errors/abort-signal.ts';
import { createTokenBucket } from '../workqueue/rate-limiter.ts';

export interface RequestLimits {
  /** Requests per second, on average. */
  qps: number;
  /** Requests at once after a quiet time. */
  burst: number;
  maxInFlight: number;
}

/**
 * Limits the requests of a process to an API server.
 * Guarantees: flows take turns, so a flow with one request waits for at most one request of each other flow. Within a flow, requests go in
 * the order of their arrival. A request whose signal fires leaves the queue and costs nothing.
 */
export interface RequestLimiter {
  /** The requests of one controller. */
  flow(name: string): RequestFlow;
}

export interface RequestFlow {
  /** Waits for a place. Rejects only when the signal fires. */
  acquire(signal: AbortSignal): Promise<Place>;
}

/** One request in flight. */
export interface Place {
  /** Further calls do nothing. */
  release(): void;
}

interface Waiter {
  enter(place: Place): void;
}

export const createRequestLimiter = ({
  clock,
  qps,
  burst,
  maxInFlight,
}: RequestLimits & { clock: Clock }): RequestLimiter => {
  const bucket = createTokenBucket(clock, { perSecond: qps, burst });
  /** Only flows with waiting requests. The flow that was served last is at the end. */
  const queues = new Map<string, Set<Waiter>>();
  /** When the token for the next request is available. A token that nobody used is kept. */
  let tokenAt: number | undefined;
  let inFlight = 0;
  let cancelTimer = (): void => {};

  const createPlace = (): Place => {
    inFlight++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        inFlight--;
        serve();
      },
    };
  };

  const leave = (flow: string, waiter: Waiter): void => {
    const queue = queues.get(flow);
    queue?.delete(waiter);
    if (queue?.size === 0) queues.delete(flow);
  };

  const next = (): { flow: string; waiter: Waiter } | undefined => {
    for (const [flow, queue] of queues) for (const waiter of queue) return { flow, waiter };
    return undefined;
  };

  const serveOne = (): boolean => {
    const turn = inFlight < maxInFlight ? next() : undefined;
    if (turn === undefined) return false;
    tokenAt ??= clock.monotonic() + bucket.reserve();
    const wait = tokenAt - clock.monotonic();
    if (wait > 0) {
      cancelTimer = clock.after(Math.ceil(wait), serve);
      return false;
    }
    tokenAt = undefined;
    const { flow, waiter } = turn;
    leave(flow, waiter);
    const rest = queues.get(flow);
    if (rest) {
      queues.delete(flow);
      queues.set(flow, rest);
    }
    waiter.enter(createPlace());
    return true;
  };

  const serve = (): void => {
    cancelTimer();
    cancelTimer = () => {};
    while (serveOne());
  };

  return {
    flow: (name) => ({
      acquire: (signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(abortError(signal));
          const abort = (): void => {
            leave(name, waiter);
            reject(abortError(signal));
          };
          const waiter: Waiter = {
            enter: (place) => {
              signal.removeEventListener('abort', abort);
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

/** Lets every request go at once. */
export const unlimited: RequestFlow = { acquire: async () => ({ release: () => {} }) };
