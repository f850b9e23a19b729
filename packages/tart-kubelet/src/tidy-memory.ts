import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, sleep } from '@tartan/kube/clock';

const everyMs = 30_000;
/** What it has taken since the last time; less is not worth a stop. */
const worthBytes = 2_000_000;

/** `gc`, which V8 gives only to contexts that are made while it is told to. `undefined` where it does not. */
const collectorOfV8 = (): ((options: object) => unknown) | undefined => {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? (options) => Reflect.apply(found, undefined, [options]) : undefined;
};

/**
 * Gives pages back to the Mac, whose memory is for guests. V8 keeps what it once needed, spread over half-empty pages, until memory is
 * short; an agent that waits never gets there. It stops the agent for some 20 ms, so it is done only after it has grown. Until `signal` fires.
 */
export const tidyMemory = async (clock: Clock, signal: AbortSignal): Promise<void> => {
  const collect = collectorOfV8();
  if (collect === undefined) return;
  let after = 0;
  for (;;) {
    await sleep(clock, everyMs, signal);
    if (signal.aborted) return;
    if (getHeapStatistics().total_heap_size - after < worthBytes) continue;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    after = getHeapStatistics().total_heap_size;
  }
};
