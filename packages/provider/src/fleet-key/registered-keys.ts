import type { CallOptions } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { HostPool, RegisteredKey } from '@tartan/scaleway';

/** For how long one list of the project's keys serves all fleets. A machine without a fleet has a key of its own. */
const maxAgeMs = 60_000;

interface KeyList {
  readonly keys: readonly RegisteredKey[];
  /** IDs of the keys that this process has registered since. Another manager may have registered the same key. */
  readonly unlisted: readonly string[];
  /** By the monotonic clock. */
  readonly at: number;
}

/**
 * The keys of the project, listed at most once a minute: a list has as many pages as there are keys, and each key has to be verified, so
 * a list for each would cost the square of their number.
 * Guarantees: a list contains what this process has registered and removed before. After a call whose outcome is unknown, the keys are
 * listed again.
 */
export const createRegisteredKeys = (pool: Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>, clock: Clock) => {
  let last: KeyList | undefined;
  const change = async <T>(call: Promise<T>, apply: (list: KeyList, result: T) => KeyList): Promise<T> => {
    const before = last;
    // Unknown until the call has ended.
    last = undefined;
    const result = await call;
    last = before && apply(before, result);
    return result;
  };
  return {
    /** `isFresh`: by a new request. */
    list: async (options: CallOptions, isFresh = false): Promise<KeyList> => {
      if (!isFresh && last !== undefined && clock.monotonic() - last.at < maxAgeMs) return last;
      const at = clock.monotonic();
      last = { keys: await pool.listKeys(options), unlisted: [], at };
      return last;
    },
    create: (name: string, publicKey: string, options: CallOptions): Promise<RegisteredKey> =>
      change(pool.createKey(name, publicKey, options), ({ keys, unlisted, at }, key) => ({
        keys: [...keys, key],
        unlisted: [...unlisted, key.id],
        at,
      })),
    remove: (id: string, options: CallOptions): Promise<void> =>
      change(pool.deleteKey(id, options), (list) => ({ ...list, keys: list.keys.filter((key) => key.id !== id) })),
  };
};

export type RegisteredKeyLists = ReturnType<typeof createRegisteredKeys>;
