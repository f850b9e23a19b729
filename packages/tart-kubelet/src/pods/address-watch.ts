import { stat } from 'node:fs/promises';
import { sleep } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';
import type { PodDeps } from './context.ts';

/** Reading the hint is cheap. A query costs a process, and takes a second without an address. */
const leasePollMs = 100;
const queryIntervalMs = 5_000;

/**
 * Finds the address of one guest. No deadline: a first boot may take long (INC-21). The lease file is only a hint; the address comes
 * from tart.
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
  /** Resolves when the lease file has changed, or the next query is due. */
  const leaseChange = async (before: number, signal: AbortSignal): Promise<void> => {
    const until = clock.monotonic() + queryIntervalMs;
    while (!signal.aborted && clock.monotonic() < until && (await leaseFileVersion()) === before)
      await sleep(clock, leasePollMs, signal);
  };

  const poll = async (vm: string, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const before = await leaseFileVersion();
      const query = tart.ip(vm, { signal }).catch(() => undefined);
      // A lease during a slow query starts the next query.
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
    /** Does nothing when the address is known or being queried. */
    watch: (vm: string) => {
      if (polling !== undefined) return;
      polling = new AbortController();
      void poll(vm, polling.signal);
    },
    /** Call at the end of a run: the next one gets another address. */
    reset: () => {
      polling?.abort();
      polling = undefined;
      address = undefined;
    },
  };
};

export type AddressWatch = ReturnType<typeof createAddressWatch>;
