import { isDeepStrictEqual } from 'node:util';
import type { FleetKey, FleetKeys } from './fleet-keys.ts';

/** Where keys hang for those who need them. */
export interface KeyBoard extends FleetKeys {
  hang(fleet: string, key: FleetKey): void;
  forget(fleet: string): void;
}

const pending: FleetKey = { kind: 'pending' };

export const createKeyBoard = (): KeyBoard => {
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
    hang: (fleet, key) => {
      if (isDeepStrictEqual(keys.get(fleet), key)) return;
      keys.set(fleet, key);
      for (const listener of listeners) listener(fleet);
    },
    forget: (fleet) => {
      keys.delete(fleet);
    },
  };
};
