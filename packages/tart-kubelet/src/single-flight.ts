/** Work that runs once for several callers. */
export interface Flight {
  readonly done: Promise<void>;
  /** Aborts the work. */
  readonly controller: AbortController;
  waiters: number;
}

/** Waits for the work, or rejects with the reason of `signal`. When the last caller has left, calls `onAbandoned` and aborts the work. */
export const joinFlight = async (flight: Flight, signal: AbortSignal, onAbandoned: () => void): Promise<void> => {
  const left = Promise.withResolvers<never>();
  const onAbort = (): void => left.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  flight.waiters += 1;
  try {
    await Promise.race([flight.done, left.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    flight.waiters -= 1;
    if (flight.waiters === 0) {
      onAbandoned();
      flight.controller.abort(signal.reason);
    }
  }
};
