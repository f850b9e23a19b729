import type { KubeObject, OwnerReference } from '@tartan/kube';
import { coreGroup } from '../cluster/core-cluster.ts';

/**
 * The reference that core puts on the infrastructure of a Machine, whatever the version it names. Before that a MachineSet stands there.
 * The Machine itself is never read: core copies to its infrastructure all that matters here.
 */
export const ownerMachineOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${coreGroup}/`),
  );
