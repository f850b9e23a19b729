/** Something outside this process that must not outlive it. */
export interface Stoppable {
  /** Orderly. */
  stop(): Promise<void>;
  /** Synchronously: the process is exiting. */
  killNow(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const registered = new Set<Stoppable>();

/** Stops `thing` when this process exits, throws or gets a signal. Returns a function that unregisters it. */
export const stopAtExit = (thing: Stoppable): (() => void) => {
  if (registered.size === 0) listen();
  registered.add(thing);
  return () => {
    if (registered.delete(thing) && registered.size === 0) unlisten();
  };
};

const killAllNow = (): void => {
  for (const thing of registered) thing.killNow();
};

let isStopping = false;

const onSignal = (signal: NodeJS.Signals): void => {
  const end = (): void => {
    // What was started meanwhile, or does not stop: an unhandled signal ends the process without `exit`.
    killAllNow();
    unlisten();
    process.kill(process.pid, signal);
  };
  // A second signal does not wait.
  if (isStopping) return end();
  isStopping = true;
  void Promise.allSettled([...registered].map((thing) => thing.stop())).then(end);
};

const listen = (): void => {
  process.on('exit', killAllNow);
  for (const signal of signals) process.on(signal, onSignal);
};

const unlisten = (): void => {
  process.off('exit', killAllNow);
  for (const signal of signals) process.off(signal, onSignal);
};
