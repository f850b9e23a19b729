import { readFileSync, writeFileSync } from 'node:fs';

interface PowerOptions {
  boot(): Promise<void>;
  /** Also what is left of a boot that failed. */
  shutDown(): Promise<void>;
  /** How long a Mac is away when it restarts. Over at once when the signal fires. */
  waitWhileDown(signal: AbortSignal): Promise<void>;
}

/** Whether a Mac has power. One change at a time: one that is stopped while it restarts must not come up afterwards. */
export interface Power {
  /** From the begin of a boot to the begin of a shutdown. */
  isOn(): boolean;
  on(): Promise<void>;
  /** The plug is pulled: also a restart that is under way ends here, and rejects. */
  off(): Promise<void>;
  /** Down, and up again after a while. Rejects for a Mac that is off: nobody is there who could. */
  restart(meanwhile: () => void): Promise<void>;
  /** The same from outside, by whoever has a hand on the power: one that is off is on afterwards too. */
  reinstall(meanwhile: () => void): Promise<void>;
  /** Something that no change of power may come into. */
  runExclusive(work: () => Promise<void>): Promise<void>;
  /** Off for good: whatever is asked for afterwards, nothing happens. */
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

/** The moment of a new boot, as kern.boottime has it: whole seconds, and never the same as that of the boot before, kept in `file`. */
export const nextBootTime = (file: string, now: number): number => {
  const bootTime = Math.max(Math.floor(now / 1000) * 1000, readNumber(file) + 1000);
  writeFileSync(file, String(bootTime));
  return bootTime;
};
