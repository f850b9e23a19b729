/** Work that several callers wait for and that runs once. */
export interface Flight {
  readonly done: Promise<void>;
  /** Ends the work. */
  readonly controller: AbortController;
  waiters: number;
}

/**
 * Waits for the work, or rejects with the reason of `signal` when that fires. `onAbandoned` is called, and the work aborted, when the last
 * caller has left.
 */
export const joinFlight = async (flight: Flight, signal: AbortSignal, onAbandoned: () => void): Promise<void> => {
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  flight.waiters += 1;
  try {
    await Promise.race([flight.done, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
    flight.waiters -= 1;
    if (flight.waiters === 0) {
      onAbandoned();
      flight.controller.abort(signal.reason);
    }
  }
};
