import type { Live } from '@tartan/kube';
import type { MachineDeployment, MachineSet } from '../kinds.ts';
import { differences } from './differences.ts';

/** The MachineSet that makes what is wanted now, and all others. */
export interface Sets {
  readonly current: Live<MachineSet> | undefined;
  /** The oldest first. */
  readonly old: readonly Live<MachineSet>[];
}

const byAge = (a: Live<MachineSet>, b: Live<MachineSet>): number =>
  a.metadata.creationTimestamp === b.metadata.creationTimestamp
    ? a.metadata.name < b.metadata.name
      ? -1
      : 1
    : a.metadata.creationTimestamp < b.metadata.creationTimestamp
      ? -1
      : 1;

/** Of several that fit, the one with the most Machines: the fewest have to be replaced. */
export const findSets = ({ spec }: MachineDeployment, sets: readonly Live<MachineSet>[], now: number): Sets => {
  const after = spec?.rollout?.after === undefined ? Number.NaN : Date.parse(spec.rollout.after);
  // A roll that was asked for by time makes all sets old that were there before.
  const isRecent = ({ metadata }: Live<MachineSet>): boolean =>
    !(after <= now) || Date.parse(metadata.creationTimestamp) >= after;
  const current = sets
    .filter((set) => differences(set.spec?.template, spec?.template).length === 0 && isRecent(set))
    .toSorted((a, b) => (b.spec?.replicas ?? 0) - (a.spec?.replicas ?? 0) || byAge(a, b))[0];
  return { current, old: sets.filter((set) => set !== current).toSorted(byAge) };
};
