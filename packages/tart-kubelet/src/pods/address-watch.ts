import { stat } from 'node:fs/promises';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';

export interface AddressWatchOptions {
  readonly tart: Pick<Tart, 'ip'>;
  /** Changes when a guest gets an address. A hint: what tart says counts. */
  readonly dhcpLeases: string;
  readonly changed: (uid: string) => void;
  readonly clock: Clock;
}

/** Looks for the addresses of guests that have none yet. For as long as it takes: a first boot has no deadline (INC-21). */
export interface AddressWatch {
  get(uid: string): string | undefined;
  /** Does nothing for one that is watched or known. */
  watch(uid: string, vm: string): void;
  /** The run is over: the next one gets another address. */
  forget(uid: string): void;
  stop(): void;
}

/** A look at the hint costs nothing; a question costs a process, and takes a second when there is no address. */
const leasePollMs = 100;
const queryIntervalMs = 5_000;

export const createAddressWatch = ({ tart, dhcpLeases, changed, clock }: AddressWatchOptions): AddressWatch => {
  const known = new Map<string, string>();
  const watched = new Map<string, AbortController>();

  const leaseFileVersion = (): Promise<number> =>
    stat(dhcpLeases).then(
      ({ mtimeMs, ctimeMs, size }) => mtimeMs + ctimeMs + size,
      () => 0,
    );
  /** Until the leases have changed, or so much time went by that one asks in any case. */
  const leaseChange = async (before: number, signal: AbortSignal): Promise<void> => {
    const until = clock.monotonic() + queryIntervalMs;
    while (!signal.aborted && clock.monotonic() < until && (await leaseFileVersion()) === before)
      await sleep(clock, leasePollMs, signal);
  };

  const poll = async (uid: string, vm: string, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const before = await leaseFileVersion();
      const query = tart.ip(vm, { signal }).catch(() => undefined);
      // An answer that is a second late is overtaken by a lease that came meanwhile.
      const overtaken = new AbortController();
      const address = await Promise.race([query, leaseChange(before, AbortSignal.any([signal, overtaken.signal]))]);
      overtaken.abort();
      if (signal.aborted) return;
      if (typeof address === 'string') {
        known.set(uid, address);
        watched.delete(uid);
        return changed(uid);
      }
      await leaseChange(before, signal);
    }
  };

  return {
    get: (uid) => known.get(uid),
    watch: (uid, vm) => {
      if (known.has(uid) || watched.has(uid)) return;
      const end = new AbortController();
      watched.set(uid, end);
      void poll(uid, vm, end.signal);
    },
    forget: (uid) => {
      known.delete(uid);
      watched.get(uid)?.abort();
      watched.delete(uid);
    },
    stop: () => {
      for (const end of watched.values()) end.abort();
      watched.clear();
    },
  };
};
