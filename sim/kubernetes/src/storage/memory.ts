import { deepFreeze, type KubeObject } from '../object.ts';
import type { Change, Storage } from './storage.ts';

/** How many changes are kept for watches that resume and for lists that go on with their next page. */
const defaultHistory = 10_000;

/** Objects in memory. Keys are kept sorted, so that a list is a slice. */
export const memoryStorage = (historyLimit = defaultHistory): Storage => {
  const objects = new Map<string, KubeObject>();
  const keys: string[] = [];
  const history: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  // etcd counts from 1, and a fresh control plane has made some writes before anybody looks: resource versions are never "0".
  let revision = 1;
  let compacted = revision;

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

  const stamped = (object: KubeObject): KubeObject =>
    deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });

  const record = (change: Change): void => {
    history.push(change);
    if (history.length > historyLimit * 1.25) {
      const dropped = history.splice(0, history.length - historyLimit);
      compacted = dropped.at(-1)?.revision ?? compacted;
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
      // Undo, newest first, what has happened since.
      for (const change of changes(prefix, at).reverse()) {
        if (change.previous) found.set(change.key, change.previous);
        else found.delete(change.key);
      }
      return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    },
    put: (key, object) => {
      revision++;
      const previous = objects.get(key);
      if (!previous) keys.splice(position(key), 0, key);
      const written = stamped(object);
      objects.set(key, written);
      record({ revision, key, object: written, previous });
      return written;
    },
    remove: (key) => {
      const previous = objects.get(key);
      if (!previous) return undefined;
      revision++;
      objects.delete(key);
      keys.splice(position(key), 1);
      record({ revision, key, object: undefined, previous });
      return stamped(previous);
    },
    changes,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
