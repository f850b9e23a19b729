import { type Client, isKubeError, type KubeObject, leases, namespaces, nodes, type Resource } from '@tartan/kube';
import { clusters, machineDeployments, machines, machineSets } from '../kinds.ts';
import { ifThere } from '../writing/found.ts';
import { playedMachines } from './played-kinds.ts';

/** Those who make others first, so that nothing is made again. */
const held: readonly Resource<KubeObject>[] = [machineDeployments, machineSets, machines, playedMachines, clusters];

/**
 * Nothing is left of a scenario, whatever it came to: nobody plays its provider any more, so whatever waited for that would be looked
 * at for ever.
 */
export const clear = async (client: Client, namespace: string): Promise<void> => {
  for (const resource of held)
    for (const { metadata } of (await client.list(resource, { namespace })).items) {
      const name = { namespace, name: metadata.name };
      await ifThere(client.delete(resource, name));
      try {
        await client.patch(resource, name, { type: 'merge', body: { metadata: { finalizers: null } } });
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
      }
    }
  for (const { metadata, spec } of (await client.list(nodes)).items) {
    if (!spec?.providerID?.startsWith(`played://${namespace}/`)) continue;
    await ifThere(client.delete(nodes, { name: metadata.name }));
    await ifThere(client.delete(leases, { namespace: 'kube-node-lease', name: metadata.name }));
  }
  await ifThere(client.delete(namespaces, { name: namespace }));
};
