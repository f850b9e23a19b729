import { kindNames } from '@tartan/api';
import { customResourceDefinitions, isKubeError } from '@tartan/kube';
import { connect } from './connect.ts';
import type { ControlPlane } from './control-plane.ts';

const machineDeployments = 'machinedeployments.cluster.x-k8s.io';

/** A cluster that somebody has. Where Cluster API is installed it does its own work; our own kinds must not be in use. */
export const useExisting = async (kubeconfig: string): Promise<ControlPlane> => {
  const { url, ca, client, transport } = await connect(kubeconfig);
  const isThere = async (name: string): Promise<boolean> => {
    try {
      await client.get(customResourceDefinitions, { name });
      return true;
    } catch (error) {
      if (isKubeError(error, 'notFound')) return false;
      throw error;
    }
  };
  const { plural, group } = kindNames.macHost;
  try {
    if (await isThere(`${plural}.${group}`))
      throw new Error(
        `the cluster of ${kubeconfig} has a fleet already (there are ${plural}.${group}): a simulated one beside it would take its machines. ` +
          'Choose another cluster, or leave --kubernetes out for the embedded one.',
      );
    const needsCore = !(await isThere(machineDeployments));
    return { url, kubeconfig, ca, client, transport, needsCore, pause: undefined, stop: async () => transport.close() };
  } catch (error) {
    transport.close();
    throw error;
  }
};
