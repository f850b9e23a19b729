import { isDeepStrictEqual } from 'node:util';

/** The SSH key of a fleet, as whoever connects to its Macs needs it. */
export type FleetKey =
  /** Stored, and registered at Scaleway. `privateKey` is in OpenSSH's form; never put it anywhere else. */
  | { readonly kind: 'ready'; readonly privateKey: string; readonly publicKey: string }
  /** Being made. Whoever waits is told by `subscribe`. */
  | { readonly kind: 'pending' }
  /** Could not be made or registered; `message` is for people. It is tried again. */
  | { readonly kind: 'unavailable'; readonly message: string };

const pending: FleetKey = { kind: 'pending' };

/** Where keys hang for those who need them. */
export const createFleetKeyStore = () => {
  const keys = new Map<string, FleetKey>();
  const listeners = new Set<(fleet: string) => void>();
  return {
    of: (fleet: string): FleetKey => keys.get(fleet) ?? pending,
    /** Calls `listener` with the name of each fleet whose key is another than it was, or has become ready or unavailable. */
    subscribe: (listener: (fleet: string) => void): (() => void) => {
      // One of its own for each call, so that the same function can be told twice and ended once.
      const heard = (fleet: string): void => listener(fleet);
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    set: (fleet: string, key: FleetKey): void => {
      if (isDeepStrictEqual(keys.get(fleet), key)) return;
      keys.set(fleet, key);
      for (const listener of listeners) listener(fleet);
    },
    delete: (fleet: string): unknown => keys.delete(fleet),
  };
};

export type FleetKeyStore = ReturnType<typeof createFleetKeyStore>;
export type FleetKeys = Pick<FleetKeyStore, 'of' | 'subscribe'>;
