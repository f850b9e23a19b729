import type { MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';

interface Known {
  readonly defaultPoolPrefix: string | undefined;
  readonly machines: Iterable<Pick<ScalewayAppleSiliconMachine, 'spec'>>;
  readonly macHosts: Iterable<Pick<MacHost, 'spec'>>;
}

/**
 * Every prefix that somebody means by a pool. That of a machine that is gone lives on in the MacHosts it claimed; without it the Macs
 * of a fleet that was deleted would look like strangers.
 */
export const poolPrefixes = ({ defaultPoolPrefix, machines, macHosts }: Known): ReadonlySet<string> => {
  const prefixes = new Set<string>();
  const add = (prefix: string | undefined): void => {
    if (prefix) prefixes.add(prefix);
  };
  add(defaultPoolPrefix);
  for (const { spec } of machines) add(spec.adoptPoolPrefix);
  for (const { spec } of macHosts) {
    add(spec.poolPrefix);
    add(spec.release?.poolPrefix);
  }
  return prefixes;
};
