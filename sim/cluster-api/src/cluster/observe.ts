import { secrets } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import { clusters, machineDeployments, machines, machineSets } from '../kinds.ts';
import { labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import type { Snapshot } from './decide.ts';

/** Undefined: it is gone. */
export const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: PassOptions,
): Promise<Snapshot | undefined> => {
  const { namespace } = name;
  const cluster = await ifThere(client.get(clusters, name, options));
  if (!cluster) return undefined;
  const { infrastructureRef, controlPlaneRef } = cluster.spec ?? {};
  const ofCluster = { namespace, labelSelector: `${labels.clusterName}=${name.name}`, ...options };
  const [infrastructure, controlPlane, deployments, sets, all, secret] = await Promise.all([
    infrastructureRef && externals.read(namespace, infrastructureRef, options),
    controlPlaneRef && externals.read(namespace, controlPlaneRef, options),
    client.list(machineDeployments, ofCluster),
    client.list(machineSets, ofCluster),
    client.list(machines, ofCluster),
    ifThere(client.get(secrets, { namespace, name: `${name.name}-kubeconfig` }, options)),
  ]);
  return {
    cluster,
    infrastructure,
    controlPlane,
    machineDeployments: deployments.items,
    machineSets: sets.items,
    machines: all.items,
    // Core looks only at Secrets with this label: without it, one is as good as missing.
    kubeconfig:
      secret?.metadata.labels?.[labels.clusterName] === name.name && (secret.data?.['value'] ?? '').length > 0,
    now: clock.now(),
  };
};
