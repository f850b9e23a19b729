import type { Environment } from '@marcbachmann/cel-js';
import { functionRegistrar } from './register.ts';

type Comparable = bigint | number | string | boolean | Date | { valueOf(): number };

const compare = (a: Comparable, b: Comparable): number => (a < b ? -1 : a > b ? 1 : 0);

const extreme = (list: Iterable<Comparable>, name: string, sign: number): Comparable => {
  const [first, ...rest] = [...list];
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, value) => (compare(value, best) * sign > 0 ? value : best), first);
};

const sum = (list: Iterable<bigint | number>): bigint | number => {
  let total: bigint | number = 0n;
  for (const value of list) {
    total = typeof value === 'bigint' && typeof total === 'bigint' ? total + value : Number(total) + Number(value);
  }
  return total;
};

/** Equal values have the same key, at any depth. */
const key = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return { int: part.toString() };
    if (part instanceof Map) return { map: [...part].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)) };
    return part instanceof Set ? { list: [...part] } : part;
  });

const indexOf = (list: Iterable<unknown>, value: unknown): bigint =>
  BigInt([...list].findIndex((item) => key(item) === key(value)));

const lastIndexOf = (list: Iterable<unknown>, value: unknown): bigint =>
  BigInt([...list].findLastIndex((item) => key(item) === key(value)));

const distinct = (list: Iterable<unknown>): unknown[] => [
  ...new Map([...list].map((item) => [key(item), item])).values(),
];

const contains = (list: Iterable<unknown>, part: Iterable<unknown>): boolean => {
  const keys = new Set([...list].map(key));
  return [...part].every((item) => keys.has(key(item)));
};

const slice = (list: Iterable<unknown>, start: bigint, end: bigint): unknown[] => {
  const items = [...list];
  if (start < 0n || end < start || end > BigInt(items.length)) {
    throw new Error(`cannot slice(${start}, ${end}), list is length ${items.length}`);
  }
  return items.slice(Number(start), Number(end));
};

/** The object `sets` in `sets.contains(a, b)`. */
class SetsNamespace {
  readonly name = 'sets';
}

/** List functions that Kubernetes adds to CEL. */
export const registerLists = (environment: Environment): void => {
  const add = functionRegistrar(environment);
  add('list.isSorted(): bool', (list: Iterable<Comparable>) =>
    [...list].every((value, index, all) => index === 0 || compare(all[index - 1] ?? value, value) <= 0),
  );
  add('list<A>.sum(): A', sum);
  add('list<A>.min(): A', (list: Iterable<Comparable>) => extreme(list, 'min', -1));
  add('list<A>.max(): A', (list: Iterable<Comparable>) => extreme(list, 'max', 1));
  add('list<A>.indexOf(A): int', indexOf);
  add('list<A>.lastIndexOf(A): int', lastIndexOf);
  add('list<A>.distinct(): list<A>', distinct);
  add('list<A>.reverse(): list<A>', (list: Iterable<unknown>) => [...list].reverse());
  add('list<A>.sort(): list<A>', (list: Iterable<Comparable>) => [...list].sort(compare));
  add('list<A>.slice(int, int): list<A>', slice);
  add('list.flatten(): list', (list: Iterable<unknown>) => [...list].flat());
  environment.registerType('SetsNamespace', SetsNamespace);
  environment.registerConstant('sets', 'SetsNamespace', new SetsNamespace());
  add('SetsNamespace.contains(list, list): bool', (_sets: unknown, a: Iterable<unknown>, b: Iterable<unknown>) =>
    contains(a, b),
  );
  add(
    'SetsNamespace.equivalent(list, list): bool',
    (_sets: unknown, a: Iterable<unknown>, b: Iterable<unknown>) => contains(a, b) && contains(b, a),
  );
  add('SetsNamespace.intersects(list, list): bool', (_sets: unknown, a: Iterable<unknown>, b: Iterable<unknown>) =>
    [...a].some((item) => contains(b, [item])),
  );
};
