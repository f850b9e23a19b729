import { defineResource, type KubeObject, type OwnerReference, type Resource } from '@tartan/kube';
import { coreGroup } from './cluster.ts';

/**
 * The reference that core puts on the infrastructure of a Machine, whatever the version it names. Before that a MachineSet stands there.
 * The Machine itself is read only where it is asked whether it goes: core copies to its infrastructure all else that matters here.
 */
export const ownerMachineOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${coreGroup}/`),
  );

/** Cluster API's own Machine, of which nothing but its metadata is read. */
export type CoreMachine = KubeObject;

/** See `coreClusters` for which version is served where. */
export const coreMachines = (version: 'v1beta1' | 'v1beta2'): Resource<CoreMachine> =>
  defineResource<CoreMachine>({ group: coreGroup, version, kind: 'Machine', plural: 'machines', namespaced: true });
