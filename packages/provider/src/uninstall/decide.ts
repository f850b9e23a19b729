import type { MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { abandonedBecause } from '../mac-host/abandoned.ts';

/** What there is, as far as it needs a manager. */
export interface Found {
  /** Of the namespace of the release: all its fleets are there. */
  readonly machines: readonly Live<ScalewayAppleSiliconMachine>[];
  readonly hosts: readonly Live<MacHost>[];
}

export type Decision =
  | { readonly kind: 'go' }
  | { readonly kind: 'refuse'; readonly machines: readonly string[]; readonly hosts: readonly string[] };

/**
 * May the manager go?
 *
 *   | there is                                   |                                                             |
 *   |--------------------------------------------|-------------------------------------------------------------|
 *   | a machine, whatever it is about to become  | no: nobody else wipes its Mac and takes its finalizer away  |
 *   | a Mac on its way back to a pool            | no: nobody else sees the wipe through and gives it its name |
 *   | such a Mac that cannot be wiped            | yes: it waits for a person, not for the manager             |
 *   | such a Mac that a person has abandoned     | yes: nothing is done to it                                  |
 *   | Macs in a pool, stranded or in quarantine  | yes                                                         |
 *
 * A Mac on its way back belongs to no machine any more, so nobody can tell whose it was: all of the cluster count.
 */
export const decide = ({ machines, hosts }: Found): Decision => {
  const left = machines.map(({ metadata }) => metadata.name);
  const returning = hosts
    .filter(({ spec, status }) => spec.release !== undefined && status?.state !== 'quarantined')
    .filter((host) => abandonedBecause(host) === undefined)
    .map(({ metadata }) => metadata.name);
  return left.length + returning.length === 0 ? { kind: 'go' } : { kind: 'refuse', machines: left, hosts: returning };
};
