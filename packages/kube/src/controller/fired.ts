/** Resolves once the signal has fired. For signals that live no longer than whoever waits: the listener stays until then. */
export const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
