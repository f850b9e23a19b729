import { isDeepStrictEqual } from 'node:util';

/** The SSH key of a fleet, as whoever connects to its Macs needs it. */
export type FleetKey =
  /** Stored, and registered at Scaleway. `privateKey` is in OpenSSH's form; never put it anywhere else. */
  | { readonly kind: 'ready'; readonly privateKey: string; readonly publicKey: string }
  /** Being made. Whoever waits is told by `subscribe`. */
  | { readonly kind: 'pending' }
  /** Could not be made or registered; `message` is for people. It is tried again. */
  | { readonly kind: 'unavailable'; readonly message: string };

export interface FleetKeys {
  of(fleet: string): FleetKey;
  /** Hears the name of each fleet whose key is another than it was, or has become ready or unavailable. */
  subscribe(listener: (fleet: string) => void): () => void;
}

/** Where keys hang for those who need them. */
export interface FleetKeyStore extends FleetKeys {
  set(fleet: string, key: FleetKey): void;
  delete(fleet: string): void;
}

const pending: FleetKey = { kind: 'pending' };

export const createFleetKeyStore = (): FleetKeyStore => {
  const keys = new Map<string, FleetKey>();
  const listeners = new Set<(fleet: string) => void>();
  return {
    of: (fleet) => keys.get(fleet) ?? pending,
    subscribe: (listener) => {
      // One of its own for each call, so that the same function can be told twice and ended once.
      const heard = (fleet: string): void => listener(fleet);
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    set: (fleet, key) => {
      if (isDeepStrictEqual(keys.get(fleet), key)) return;
      keys.set(fleet, key);
      for (const listener of listeners) listener(fleet);
    },
    delete: (fleet) => {
      keys.delete(fleet);
    },
  };
};
