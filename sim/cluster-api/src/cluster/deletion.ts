import { isOwnedBy, type KubeObject, type Live } from '@tartan/kube';
import type { External } from '../external/object-tracker.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from '../kinds.ts';

export interface Snapshot {
  readonly cluster: Live<Cluster>;
  /** Undefined when the Cluster refers to none. */
  readonly infrastructure: External | undefined;
  readonly controlPlane: External | undefined;
  readonly machineDeployments: readonly Live<MachineDeployment>[];
  readonly machineSets: readonly Live<MachineSet>[];
  readonly machines: readonly Live<Machine>[];
  /** Whether core has a kubeconfig for the workload cluster. */
  readonly kubeconfig: boolean;
  readonly now: number;
}

type Child = { kind: 'MachineDeployment' | 'MachineSet' | 'Machine'; name: string };

/** The next step of deleting a Cluster. */
export type Deletion =
  /** All workers must be gone first. Those listed are deleted now. */
  | { kind: 'waitForWorkers'; delete: readonly Child[]; left: readonly string[] }
  | { kind: 'controlPlane' | 'infrastructure'; delete: boolean; object: External }
  | { kind: 'finish' };

const isDeleting = ({ metadata }: KubeObject): boolean => metadata?.deletionTimestamp !== undefined;

/** Workers, then the control plane, then the infrastructure. No drain: the Pods are deleted with the Cluster. */
export const decideDeletion = (snapshot: Snapshot): Deletion => {
  const { cluster, infrastructure, controlPlane } = snapshot;
  const workers = [
    ['MachineDeployment', snapshot.machineDeployments, 'MachineDeployments'],
    ['MachineSet', snapshot.machineSets, 'MachineSets'],
    ['Machine', snapshot.machines, 'Worker Machines'],
  ] as const;
  if (workers.some(([, objects]) => objects.length > 0))
    return {
      kind: 'waitForWorkers',
      // A MachineDeployment deletes its own objects; the Cluster deletes only those that it owns.
      delete: workers.flatMap(([kind, objects]) =>
        objects
          .filter((object) => !isDeleting(object) && isOwnedBy(object, cluster.metadata.uid))
          .map(({ metadata }) => ({ kind, name: metadata.name })),
      ),
      left: workers
        .filter(([, objects]) => objects.length > 0)
        .map(([, objects, heading]) => `${heading}: ${objects.map(({ metadata }) => metadata.name).join(', ')}`),
    };
  for (const [kind, object] of [
    ['controlPlane', controlPlane],
    ['infrastructure', infrastructure],
  ] as const)
    if (object?.object) return { kind, delete: !isDeleting(object.object), object };
  return { kind: 'finish' };
};
