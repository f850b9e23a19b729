import type { Logger } from '../logs/logger.ts';
import type { KubeObject, Live } from '../objects/object.ts';

/** Returns the index values of an object. */
export type IndexFunction<T extends KubeObject> = (object: Live<T>) => readonly string[];

/** Objects by key and by index values. Both are updated together. */
export interface IndexedStore<T extends KubeObject> {
  get(key: string): Live<T> | undefined;
  list(): Live<T>[];
  keys(): string[];
  readonly size: number;
  byIndex(index: string, value: string): Live<T>[];
  put(key: string, object: Live<T>): void;
  remove(key: string): void;
}

interface Index<T extends KubeObject> {
  name: string;
  valuesOf: IndexFunction<T>;
  objectsByValue: Map<string, Map<string, Live<T>>>;
  /** The values at insertion: an object is removed from these, whatever the index function returns now. */
  valuesByKey: Map<string, readonly string[]>;
}

const removeFromIndex = <T extends KubeObject>(index: Index<T>, key: string): void => {
  for (const value of index.valuesByKey.get(key) ?? []) {
    const objects = index.objectsByValue.get(value);
    objects?.delete(key);
    if (objects?.size === 0) index.objectsByValue.delete(value);
  }
  index.valuesByKey.delete(key);
};

const addToIndex = <T extends KubeObject>(
  index: Index<T>,
  key: string,
  object: Live<T>,
  values: readonly string[],
): void => {
  for (const value of values) {
    const objects = index.objectsByValue.get(value);
    if (objects) objects.set(key, object);
    else index.objectsByValue.set(value, new Map([[key, object]]));
  }
  if (values.length > 0) index.valuesByKey.set(key, values);
};

export const createIndexedStore = <T extends KubeObject>(
  functions: Readonly<Record<string, IndexFunction<T>>>,
  log: Logger,
): IndexedStore<T> => {
  const objects = new Map<string, Live<T>>();
  const indexes = new Map<string, Index<T>>(
    Object.entries(functions).map(([name, valuesOf]) => [
      name,
      { name, valuesOf, objectsByValue: new Map(), valuesByKey: new Map() },
    ]),
  );
  const valuesOf = (index: Index<T>, key: string, object: Live<T>): readonly string[] => {
    try {
      return [...index.valuesOf(object)];
    } catch (error) {
      log.error('An index function threw; the object is not in that index', { index: index.name, key, error });
      return [];
    }
  };
  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    keys: () => [...objects.keys()],
    get size() {
      return objects.size;
    },
    byIndex: (name, value) => {
      const index = indexes.get(name);
      if (!index) {
        const known = [...indexes.keys()].join(', ') || 'none';
        throw new Error(`This cache has no index "${name}" (it has: ${known}). Name it in the option "indexes".`);
      }
      return [...(index.objectsByValue.get(value)?.values() ?? [])];
    },
    put: (key, object) => {
      objects.set(key, object);
      for (const index of indexes.values()) {
        removeFromIndex(index, key);
        addToIndex(index, key, object, valuesOf(index, key, object));
      }
    },
    remove: (key) => {
      objects.delete(key);
      for (const index of indexes.values()) removeFromIndex(index, key);
    },
  };
};
