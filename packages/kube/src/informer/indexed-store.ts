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
  /** How many objects have each value. */
  countByIndex(index: string): ReadonlyMap<string, number>;
  put(key: string, object: Live<T>): void;
  remove(key: string): void;
}

/**
 * Texts by text. Most keys have one: a collection for each of them would need more memory than the small objects of a cache.
 */
type Multimap = Map<string, string | Set<string>>;

const textsOf = (map: Multimap, key: string): Iterable<string> => {
  const held = map.get(key) ?? [];
  return typeof held === 'string' ? [held] : held;
};

const addText = (map: Multimap, key: string, text: string): void => {
  const held = map.get(key) ?? text;
  if (typeof held !== 'string') held.add(text);
  else map.set(key, held === text ? text : new Set([held, text]));
};

const removeText = (map: Multimap, key: string, text: string): void => {
  const held = map.get(key);
  if (typeof held === 'object') held.delete(text);
  if (held === text || (typeof held === 'object' && held.size === 0)) map.delete(key);
};

interface Index<T extends KubeObject> {
  name: string;
  valuesOf: IndexFunction<T>;
  keysByValue: Multimap;
  /** The values at insertion: an object is removed from these, whatever the index function returns now. */
  valuesByKey: Multimap;
}

const removeFromIndex = <T extends KubeObject>({ keysByValue, valuesByKey }: Index<T>, key: string): void => {
  for (const value of textsOf(valuesByKey, key)) removeText(keysByValue, value, key);
  valuesByKey.delete(key);
};

const addToIndex = <T extends KubeObject>(
  { keysByValue, valuesByKey }: Index<T>,
  key: string,
  values: readonly string[],
): void => {
  for (const value of values) {
    addText(keysByValue, value, key);
    addText(valuesByKey, key, value);
  }
};

export const createIndexedStore = <T extends KubeObject>(
  functions: Readonly<Record<string, IndexFunction<T>>>,
  log: Logger,
): IndexedStore<T> => {
  const objects = new Map<string, Live<T>>();
  const indexes = new Map<string, Index<T>>(
    Object.entries(functions).map(([name, valuesOf]) => [
      name,
      { name, valuesOf, keysByValue: new Map(), valuesByKey: new Map() },
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
  const indexOf = (name: string): Index<T> => {
    const index = indexes.get(name);
    if (index) return index;
    const known = [...indexes.keys()].join(', ') || 'none';
    throw new Error(`This cache has no index "${name}" (it has: ${known}). Name it in the option "indexes".`);
  };
  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    keys: () => [...objects.keys()],
    get size() {
      return objects.size;
    },
    byIndex: (name, value) => [...textsOf(indexOf(name).keysByValue, value)].flatMap((key) => objects.get(key) ?? []),
    countByIndex: (name) =>
      new Map(
        indexOf(name)
          .keysByValue.entries()
          .map(([value, keys]) => [value, typeof keys === 'string' ? 1 : keys.size]),
      ),
    put: (key, object) => {
      objects.set(key, object);
      for (const index of indexes.values()) {
        removeFromIndex(index, key);
        addToIndex(index, key, valuesOf(index, key, object));
      }
    },
    remove: (key) => {
      objects.delete(key);
      for (const index of indexes.values()) removeFromIndex(index, key);
    },
  };
};
