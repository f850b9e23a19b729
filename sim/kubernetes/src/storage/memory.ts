import { deepFreeze, type KubeObject } from '../object.ts';
import type { Change, Journal, Storage } from './storage.ts';

/** How many changes are kept for watches that resume and for paginated lists. */
const defaultHistory = 10_000;

/** Objects in memory. Keys are sorted, so a list is a slice. With a journal it continues from its end. */
export const memoryStorage = (historyLimit = defaultHistory, journal?: Journal): Storage => {
  const objects = new Map<string, KubeObject>();
  const history: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  // etcd counts from 1, and a new control plane has written before the first client connects: resource versions are never "0".
  let revision = Math.max(1, journal?.past.compacted ?? 1);
  let compacted = revision;
  for (const { revision: at, key, object } of journal?.past.versions ?? []) {
    if (at > compacted) history.push({ revision: at, key, object, previous: objects.get(key) });
    if (object) objects.set(key, deepFreeze(object));
    else objects.delete(key);
    revision = Math.max(revision, at);
  }
  const keys: string[] = [...objects.keys()].sort();

  /** Index of the first key that is not below `key`. */
  const position = (key: string): number => {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const stamped = (object: KubeObject, at: number): KubeObject =>
    deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(at) } });

  const record = (change: Change): void => {
    revision = change.revision;
    history.push(change);
    if (history.length > historyLimit * 1.25) {
      const dropped = history.splice(0, history.length - historyLimit);
      compacted = dropped.at(-1)?.revision ?? compacted;
      journal?.compact(dropped);
    }
    for (const listener of listeners) listener(change);
  };

  const current = (prefix: string): Map<string, KubeObject> => {
    const found = new Map<string, KubeObject>();
    for (let index = position(prefix); index < keys.length; index++) {
      const key = keys[index] ?? '';
      if (!key.startsWith(prefix)) break;
      const object = objects.get(key);
      if (object) found.set(key, object);
    }
    return found;
  };

  const changes = (prefix: string, after: number): Change[] => {
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((history[middle]?.revision ?? 0) <= after) low = middle + 1;
      else high = middle;
    }
    return history.slice(low).filter((change) => change.key.startsWith(prefix));
  };

  return {
    get revision() {
      return revision;
    },
    get compacted() {
      return compacted;
    },
    get: (key) => objects.get(key),
    list: (prefix, at = revision) => {
      const found = current(prefix);
      if (at >= revision) return [...found.values()];
      // Undo later changes, newest first.
      for (const change of changes(prefix, at).reverse()) {
        if (change.previous) found.set(change.key, change.previous);
        else found.delete(change.key);
      }
      return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    },
    put: (key, object) => {
      const previous = objects.get(key);
      const written = stamped(object, revision + 1);
      const change = { revision: revision + 1, key, object: written, previous };
      journal?.write(change);
      if (!previous) keys.splice(position(key), 0, key);
      objects.set(key, written);
      record(change);
      return written;
    },
    remove: (key) => {
      const previous = objects.get(key);
      if (!previous) return undefined;
      const change = { revision: revision + 1, key, object: undefined, previous };
      journal?.write(change);
      objects.delete(key);
      keys.splice(position(key), 1);
      record(change);
      return stamped(previous, change.revision);
    },
    changes,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
