import type { MacHost } from '@tartan/api';

interface Known {
  /** Those that the manager was told. */
  readonly allowedPoolPrefixes: readonly string[];
  readonly macHosts: Iterable<Pick<MacHost, 'spec'>>;
}

/**
 * What is a pool: what the manager was told, and what it claimed from before. The latter is written by managers alone; without it the Macs
 * of a fleet that was deleted would look like strangers. What a machine's spec says makes no pool.
 */
export const poolPrefixes = ({ allowedPoolPrefixes, macHosts }: Known): ReadonlySet<string> => {
  const prefixes = new Set<string>(allowedPoolPrefixes);
  const add = (prefix: string | undefined): void => {
    if (prefix) prefixes.add(prefix);
  };
  for (const { spec } of macHosts) {
    add(spec.poolPrefix);
    add(spec.release?.poolPrefix);
  }
  return prefixes;
};
