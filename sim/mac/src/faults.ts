/** What goes wrong with one Mac. Any of it may be changed while the Mac runs; all of it is on record. */
export interface Faults {
  /** `hang before the banner`: TCP connects, and nothing is ever said. `refuse`: nobody listens. */
  ssh: 'normal' | 'hang before the banner' | 'refuse';
  /** The connection is cut when a channel has received this many bytes of input. */
  disconnectAtByte: number | undefined;
  /** Bytes per second that a channel takes. */
  bytesPerSecond: number | undefined;
  /** Bytes left on the disk; `undefined` is plenty. Writers fail with `No space left on device` after having truncated their target. */
  diskFree: number | undefined;
  /** `dead`: it exited on an earlier SIGHUP (INC-08). `forbidden`: kickstart -k answers 1, Operation not permitted (macOS >= 14.4). */
  loginwindow: 'normal' | 'dead' | 'forbidden';
  /** No GUI session comes up, whatever the password. */
  noGuiSession: boolean;
  /** `no-op`: kickstart -k answers 0 and leaves the old process (C6). */
  kickstart: 'normal' | 'no-op';
  /** Labels whose process dies soon after each start. */
  crashLoop: Set<string>;
  /** Labels that are registered by bootstrap but not started until a kickstart. */
  neverSpawned: Set<string>;
  /** pfctl -f answers `Resource busy` for tables, as after a duplicate load. */
  pfBusy: boolean;
  /** A reinstall that leaves everything as it was (decision 5). */
  reinstallDoesNotWipe: boolean;
  /** `tailscale up` never comes back, as when its control server cannot be reached. */
  tailscaleUpHangs: boolean;
}

export const noFaults = (): Faults => ({
  ssh: 'normal',
  disconnectAtByte: undefined,
  bytesPerSecond: undefined,
  diskFree: undefined,
  loginwindow: 'normal',
  noGuiSession: false,
  kickstart: 'normal',
  crashLoop: new Set(),
  neverSpawned: new Set(),
  pfBusy: false,
  reinstallDoesNotWipe: false,
  tailscaleUpHangs: false,
});

/** Faults that tell when one of them is changed. */
export const observableFaults = (changed: (fault: keyof Faults) => void): Faults =>
  new Proxy(noFaults(), {
    set: (faults, fault, value) => {
      const done = Reflect.set(faults, fault, value);
      changed(fault as keyof Faults);
      return done;
    },
  });
