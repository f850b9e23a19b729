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
  /** Whether there is a kubeconfig by which core can look into the cluster. */
  readonly kubeconfig: boolean;
  readonly now: number;
}

type Child = { kind: 'MachineDeployment' | 'MachineSet' | 'Machine'; name: string };

/** What is done next with a Cluster that is to go. */
export type Deletion =
  /** All of them must be gone first. Those listed are told to. */
  | { kind: 'waitForWorkers'; delete: readonly Child[]; left: readonly string[] }
  | { kind: 'controlPlane' | 'infrastructure'; delete: boolean; object: External }
  | { kind: 'finish' };

const isDeleting = ({ metadata }: KubeObject): boolean => metadata?.deletionTimestamp !== undefined;

/** Workers, then the control plane, then the infrastructure. Nobody drains: with the Cluster, Pods go too. */
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
      // What a MachineDeployment made goes with it; the Cluster deletes only what is its own.
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
