import { stat } from 'node:fs/promises';
import { sleep } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';
import type { PodDeps } from './context.ts';

/** Reading the hint costs nothing. A query costs a process, and takes a second when there is no address. */
const leasePollMs = 100;
const queryIntervalMs = 5_000;

/**
 * Finds the address of one guest. Without a deadline: a first boot may take long (INC-21). The file of leases is only a hint: what tart
 * says counts.
 */
export const createAddressWatch = (
  { tart, dhcpLeases, clock }: Pick<PodDeps, 'clock' | 'dhcpLeases'> & { readonly tart: Pick<Tart, 'ip'> },
  changed: () => void,
) => {
  let address: string | undefined;
  let polling: AbortController | undefined;

  const leaseFileVersion = (): Promise<number> =>
    stat(dhcpLeases).then(
      ({ mtimeMs, ctimeMs, size }) => mtimeMs + ctimeMs + size,
      () => 0,
    );
  /** Resolves when the leases have changed, or when it is time for another query. */
  const leaseChange = async (before: number, signal: AbortSignal): Promise<void> => {
    const until = clock.monotonic() + queryIntervalMs;
    while (!signal.aborted && clock.monotonic() < until && (await leaseFileVersion()) === before)
      await sleep(clock, leasePollMs, signal);
  };

  const poll = async (vm: string, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const before = await leaseFileVersion();
      const query = tart.ip(vm, { signal }).catch(() => undefined);
      // A lease that comes during a slow query starts the next query.
      const answered = new AbortController();
      const found = await Promise.race([query, leaseChange(before, AbortSignal.any([signal, answered.signal]))]);
      answered.abort();
      if (signal.aborted) return;
      if (typeof found === 'string') {
        address = found;
        return changed();
      }
      await leaseChange(before, signal);
    }
  };

  return {
    get: () => address,
    /** Does nothing when the address is known or being looked for. */
    watch: (vm: string) => {
      if (polling !== undefined) return;
      polling = new AbortController();
      void poll(vm, polling.signal);
    },
    /** The run is over: the next one gets another address. */
    reset: () => {
      polling?.abort();
      polling = undefined;
      address = undefined;
    },
  };
};

export type AddressWatch = ReturnType<typeof createAddressWatch>;
