/** Faults of one Mac. All can be changed while the Mac runs, and all were seen on real hosts. */
export interface Faults {
  /** `hang before the banner`: TCP connects, but sshd sends nothing. `refuse`: sshd does not listen. */
  ssh: 'normal' | 'hang before the banner' | 'refuse';
  /** sshd cuts the connection when a channel has received this many bytes of input. */
  disconnectAtByte: number | undefined;
  /** Bytes per second that a channel accepts. */
  bytesPerSecond: number | undefined;
  /** Free bytes on the disk; `undefined` is plenty. Writers fail with `No space left on device` after they have truncated their target. */
  diskFree: number | undefined;
  /** `dead`: it exited on an earlier SIGHUP (INC-08). `forbidden`: kickstart -k fails with 1, Operation not permitted (macOS >= 14.4). */
  loginwindow: 'normal' | 'dead' | 'forbidden';
  /** No GUI session starts, whatever the password. */
  noGuiSession: boolean;
  /** `no-op`: kickstart -k exits with 0, but the old process keeps running (requirement C6). */
  kickstart: 'normal' | 'no-op';
  /** Labels whose process crashes soon after each start. */
  crashLoop: Set<string>;
  /** Labels that bootstrap registers but does not start until a kickstart. */
  neverSpawned: Set<string>;
  /** pfctl -f fails with `Resource busy` for tables, as after a duplicate load. */
  pfBusy: boolean;
  /** A reinstall that does not wipe the disk. */
  reinstallDoesNotWipe: boolean;
  /** `tailscale up` never returns, as when its control server is unreachable. */
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

/** Faults that call `changed` when one of them is set. */
export const observableFaults = (changed: (fault: keyof Faults) => void): Faults =>
  new Proxy(noFaults(), {
    set: (faults, fault, value) => {
      const done = Reflect.set(faults, fault, value);
      changed(fault as keyof Faults);
      return done;
    },
  });
