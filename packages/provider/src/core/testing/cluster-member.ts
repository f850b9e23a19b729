import { labels } from '@tartan/api';
import { type Client, isKubeError, type ObjectMeta } from '@tartan/kube';
import { coreClusters, coreGroup, coreMachines } from '../kinds.ts';

const apiVersion = `${coreGroup}/v1beta2`;
const cluster = 'macs';

const ignoreAlreadyExists = async (creation: Promise<unknown>): Promise<void> => {
  try {
    await creation;
  } catch (error) {
    if (!isKubeError(error, 'alreadyExists')) throw error;
  }
};

/**
 * The label and the owner that Cluster API core sets on the infrastructure of a Machine. Creates both owners, as garbage collection would
 * otherwise delete the machine, and marks the Cluster as provisioned. For tests in which core does not run.
 */
export const clusterMember = async (
  client: Client,
  at: { readonly namespace: string; readonly name: string },
): Promise<Pick<ObjectMeta, 'labels' | 'ownerReferences'>> => {
  const { namespace } = at;
  const name = { namespace, name: cluster };
  await ignoreAlreadyExists(client.create(coreClusters('v1beta2'), { apiVersion, kind: 'Cluster', metadata: name }));
  const provisioned = { status: { initialization: { infrastructureProvisioned: true } } };
  const merge = { type: 'merge', body: provisioned } as const;
  await client.patch(coreClusters('v1beta2'), name, merge, { subresource: 'status' });
  const machines = coreMachines('v1beta2');
  await ignoreAlreadyExists(client.create(machines, { apiVersion, kind: 'Machine', metadata: at }));
  const { uid } = (await client.get(machines, at)).metadata;
  return {
    labels: { [labels.clusterName]: cluster },
    ownerReferences: [{ apiVersion, kind: 'Machine', name: at.name, uid }],
  };
};
