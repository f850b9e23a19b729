import { readFileSync, writeFileSync } from 'node:fs';

interface PowerOptions {
  boot(): Promise<void>;
  /** Also cleans up after a boot that failed. */
  shutDown(): Promise<void>;
  /** How long a Mac is down during a restart. Ends at once when the signal fires. */
  waitWhileDown(signal: AbortSignal): Promise<void>;
}

/** The power state of a Mac. Changes run one at a time: a Mac that is stopped during a restart must not come up afterwards. */
export interface Power {
  /** From the start of a boot to the start of a shutdown. */
  isOn(): boolean;
  on(): Promise<void>;
  /** Pulls the plug. A restart in progress ends here, and rejects. */
  off(): Promise<void>;
  /** Shuts down and boots again. Rejects for a Mac that is off. */
  restart(meanwhile: () => void): Promise<void>;
  /** The same from outside, as Scaleway does it: a Mac that is off is on afterwards too. */
  reinstall(meanwhile: () => void): Promise<void>;
  /** Runs work that no change of power may interrupt. */
  runExclusive(work: () => Promise<void>): Promise<void>;
  /** Off permanently: later calls have no effect. */
  end(): Promise<void>;
}

export const createPower = ({ boot, shutDown, waitWhileDown }: PowerOptions): Power => {
  let isOn = false;
  let isEnded = false;
  let plug = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  const enqueue = (change: () => Promise<void>): Promise<void> => {
    const done = last.then(change);
    last = done.catch(() => {});
    return done;
  };
  const down = async (): Promise<void> => {
    if (!isOn) return;
    isOn = false;
    await shutDown();
  };
  const up = async (): Promise<void> => {
    if (isOn || isEnded) return;
    isOn = true;
    try {
      await boot();
    } catch (error) {
      await down();
      throw error;
    }
  };
  const pullPlug = (): Promise<void> => {
    plug.abort();
    plug = new AbortController();
    return enqueue(down);
  };
  const cycle = (needsPower: boolean, meanwhile: () => void): Promise<void> => {
    const { signal } = plug;
    const throwIfCut = (): void => {
      if (signal.aborted && !isEnded) throw new Error('the power of this Mac was cut while it restarted');
    };
    return enqueue(async () => {
      if (isEnded) return;
      throwIfCut();
      if (needsPower && !isOn) throw new Error('this Mac is off and cannot restart: switch it on with powerOn()');
      await down();
      meanwhile();
      await waitWhileDown(signal);
      throwIfCut();
      await up();
    });
  };

  return {
    isOn: () => isOn,
    on: () => enqueue(up),
    off: pullPlug,
    restart: (meanwhile) => cycle(true, meanwhile),
    reinstall: (meanwhile) => cycle(false, meanwhile),
    runExclusive: enqueue,
    end: () => {
      if (isEnded) return enqueue(async () => {});
      isEnded = true;
      return pullPlug();
    },
  };
};

const readNumber = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

/** The time of a new boot, like kern.boottime: whole seconds, and always later than the boot before, which is stored in `file`. */
export const nextBootTime = (file: string, now: number): number => {
  const bootTime = Math.max(Math.floor(now / 1000) * 1000, readNumber(file) + 1000);
  writeFileSync(file, String(bootTime));
  return bootTime;
};
