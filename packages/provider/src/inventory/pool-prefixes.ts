import type { MacHost } from '@tartan/api';
import type { Informers } from '../controller-deps.ts';

/**
 * Our pools: those from flags, and those that hosts were claimed from, which only managers record. Without the latter the Macs of a deleted
 * fleet would look foreign. `spec.adoptPoolPrefix` of a machine does not add a pool.
 */
export const poolPrefixesOf = (
  allowedPoolPrefixes: readonly string[],
  macHosts: Iterable<Pick<MacHost, 'spec'>>,
): ReadonlySet<string> => new Set([...allowedPoolPrefixes, ...[...macHosts].flatMap(prefixesOf)]);

const prefixesOf = ({ spec }: Pick<MacHost, 'spec'>): string[] =>
  [spec.poolPrefix, spec.release?.poolPrefix].flatMap((prefix) => prefix || []);

/** The same, kept current with each change: every pass of every Mac asks for it. */
export const createPoolPrefixes = (allowedPoolPrefixes: readonly string[]) => {
  /** How many MacHosts name it. */
  const counts = new Map<string, number>();
  let prefixes: ReadonlySet<string> | undefined;
  const count = (host: Pick<MacHost, 'spec'>, by: 1 | -1): void => {
    for (const prefix of prefixesOf(host)) {
      const next = (counts.get(prefix) ?? 0) + by;
      if (next > 0) counts.set(prefix, next);
      else counts.delete(prefix);
      // Nobody named it before, or nobody names it any more.
      if (next === 0 || next === by) prefixes = undefined;
    }
  };
  return {
    get: (): ReadonlySet<string> => (prefixes ??= new Set([...allowedPoolPrefixes, ...counts.keys()])),
    /** Starts anew with what the cache holds. */
    follow: (macHosts: Pick<Informers['macHosts'], 'subscribe'>): (() => void) => {
      counts.clear();
      prefixes = undefined;
      return macHosts.subscribe((change) => {
        if (change.type !== 'removed') count(change.object, 1);
        if (change.type !== 'added') count(change.previous, -1);
      });
    },
  };
};
