import { inTheGuest } from '@tartan/api';
import type { Pod } from '../pods/snapshot.ts';
import { configProblem } from './refused.ts';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
export type VolumeSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

export interface ProjectedVolume {
  readonly name: string;
  readonly sources: readonly VolumeSource[];
}

/** What the server adds to every Pod that does not say no: a credential for the whole cluster. */
const addedPrefix = 'kube-api-access-';

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** That of runners is a volume like any other. */
const ownShares: readonly string[] = [inTheGuest.shares.env, inTheGuest.shares.status];

/** The projected volumes of the Pod, mounted or not, but for one that nobody asked for (INC-70). */
export const projectedVolumes = ({ spec }: Pod): readonly ProjectedVolume[] =>
  (spec?.volumes ?? []).flatMap(({ name, projected }) =>
    projected === undefined || (name.startsWith(addedPrefix) && spec?.automountServiceAccountToken !== true)
      ? []
      : [{ name, sources: projected.sources ?? [] }],
  );

/** Those that the container mounts. Each is a share under its own name: a guest has no mount points that we could choose. */
export const mountedVolumes = (pod: Pod): readonly ProjectedVolume[] => {
  const mounts = pod.spec?.containers[0]?.volumeMounts ?? [];
  const mounted = new Set(mounts.map(({ name }) => name));
  const volumes = projectedVolumes(pod).filter(({ name }) => mounted.has(name));
  for (const { name } of volumes) {
    if (ownShares.includes(name))
      throw configProblem(`Every guest has a share named ${name} already. Give the volume another name.`);
    if (!namePattern.test(name))
      throw configProblem(`The volume ${JSON.stringify(name)} cannot be the name of a share. Rename it.`);
  }
  return volumes;
};
