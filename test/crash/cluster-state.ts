import { type MacFleet, macFleet, machine, type MacHost, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type KubeObject, leases, type Live, nodes, type Resource, secrets } from '@tartan/kube';
import type { Kubernetes } from '@tartan/sim-kubernetes';
import type { Storage } from '../../sim/kubernetes/src/storage/storage.ts';

export type Machine = Live<ScalewayAppleSiliconMachine>;
type Host = Live<MacHost>;
type Of<R extends { ofType?: unknown }> = Live<NonNullable<R['ofType']> & KubeObject>;

/** The current content of Kubernetes, read without requests, so that reading is not an effect. */
export interface ClusterState {
  machines(): readonly Machine[];
  machine(name: string): Machine | undefined;
  hosts(): readonly Host[];
  host(id: string): Host | undefined;
  fleets(): readonly Live<MacFleet>[];
  nodes(): readonly Of<typeof nodes>[];
  node(name: string): Of<typeof nodes> | undefined;
  secrets(): readonly Of<typeof secrets>[];
  leases(): readonly Of<typeof leases>[];
}

export const clusterStateOf = ({ api }: Kubernetes, storage: Storage): ClusterState => {
  /** Lists by revision: most have not changed since the last read. */
  const known = new Map<string, { revision: number; items: readonly unknown[] }>();
  const list = <T extends KubeObject>({ group, plural }: Resource<T>): readonly Live<T>[] => {
    const prefix = api.find(group, plural)?.prefix;
    if (prefix === undefined) return [];
    let found = known.get(prefix);
    if (found?.revision !== storage.revision) {
      const isSame = found !== undefined && storage.changes(prefix, found.revision).length === 0;
      found = { revision: storage.revision, items: isSame && found ? found.items : storage.list(prefix) };
      known.set(prefix, found);
    }
    return found.items as readonly Live<T>[];
  };
  const named =
    <T extends KubeObject>(resource: Resource<T>) =>
    (name: string): Live<T> | undefined =>
      list(resource).find(({ metadata }) => metadata.name === name);
  return {
    machines: () => list(machine.resource),
    machine: named(machine.resource),
    hosts: () => list(macHost.resource),
    host: named(macHost.resource),
    fleets: () => list(macFleet.resource),
    nodes: () => list(nodes),
    node: named(nodes),
    secrets: () => list(secrets),
    leases: () => list(leases),
  };
};

export const isReady = ({ status }: Of<typeof nodes>): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');
