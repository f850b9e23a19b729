/** At most so many at a time, in the order in which they came. Who leaves the line before its turn never had one. */
export type Limit = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export const createLimit = (most: number): Limit => {
  let busy = 0;
  const line: (() => void)[] = [];
  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        line.splice(line.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      line.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  return async (signal, work) => {
    signal.throwIfAborted();
    // A place that is given back goes straight to the next in line, so `busy` stays.
    if (busy >= most) await turn(signal);
    else busy += 1;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
};
