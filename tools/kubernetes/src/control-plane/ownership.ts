/** Something outside this process that must not outlive it. */
export interface Owned {
  /** In good order. */
  stop(): Promise<void>;
  /** At once and synchronously: the process is exiting. */
  abandon(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const owned = new Set<Owned>();

/** From now on `thing` ends with this process, whether that exits, throws, or is told to stop. Answers with the way to let go of it. */
export const own = (thing: Owned): (() => void) => {
  if (owned.size === 0) listen();
  owned.add(thing);
  return () => {
    if (owned.delete(thing) && owned.size === 0) unlisten();
  };
};

const abandonAll = (): void => {
  for (const thing of owned) thing.abandon();
};

let isStopping = false;

const onSignal = (signal: NodeJS.Signals): void => {
  const end = (): void => {
    unlisten();
    process.kill(process.pid, signal);
  };
  if (isStopping) {
    // Somebody is impatient. A signal that is not handled ends the process without `exit`, so what is left must go now.
    abandonAll();
    end();
    return;
  }
  isStopping = true;
  void Promise.allSettled([...owned].map((thing) => thing.stop())).then(end);
};

const listen = (): void => {
  process.on('exit', abandonAll);
  for (const signal of signals) process.on(signal, onSignal);
};

const unlisten = (): void => {
  process.off('exit', abandonAll);
  for (const signal of signals) process.off(signal, onSignal);
};
