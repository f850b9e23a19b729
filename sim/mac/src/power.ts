export interface PowerOptions {
  boot(): Promise<void>;
  /** Also what is left of a boot that failed. */
  shutDown(): Promise<void>;
  /** How long a Mac is away when it restarts. Over at once when the signal fires. */
  away(signal: AbortSignal): Promise<void>;
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
  installAnew(meanwhile: () => void): Promise<void>;
  /** Something that no change of power may come into. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** Off for good: whatever is asked for afterwards, nothing happens. */
  end(): Promise<void>;
}

export const createPower = ({ boot, shutDown, away }: PowerOptions): Power => {
  let isOn = false;
  let isOver = false;
  let plug = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  const then = (change: () => Promise<void>): Promise<void> => {
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
    if (isOn || isOver) return;
    isOn = true;
    try {
      await boot();
    } catch (error) {
      await down();
      throw error;
    }
  };
  const pull = (): Promise<void> => {
    plug.abort();
    plug = new AbortController();
    return then(down);
  };
  const cycle = (needsPower: boolean, meanwhile: () => void): Promise<void> => {
    const { signal } = plug;
    const cut = (): void => {
      if (signal.aborted && !isOver) throw new Error('the power of this Mac was cut while it restarted');
    };
    return then(async () => {
      if (isOver) return;
      cut();
      if (needsPower && !isOn) throw new Error('this Mac is off and cannot restart: switch it on with powerOn()');
      await down();
      meanwhile();
      await away(signal);
      cut();
      await up();
    });
  };

  return {
    isOn: () => isOn,
    on: () => then(up),
    off: pull,
    restart: (meanwhile) => cycle(true, meanwhile),
    installAnew: (meanwhile) => cycle(false, meanwhile),
    inTurn: then,
    end: () => {
      if (isOver) return then(async () => {});
      isOver = true;
      return pull();
    },
  };
};
