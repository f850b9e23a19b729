import { getControllerOf, type Live } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import { clusters, type MachineDeployment, machineDeployments, machines, machineSets } from '../kinds.ts';
import { labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import type { Snapshot } from './decide.ts';
import { withDefaults } from './defaults.ts';
import { findSets } from './find-sets.ts';

/** What is there, and what it would be with core's defaults. Undefined: it is gone, or nobody knows its Cluster. */
export const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: PassOptions,
): Promise<{ live: Live<MachineDeployment>; snapshot: Snapshot } | undefined> => {
  const { namespace } = name;
  const live = await ifThere(client.get(machineDeployments, name, options));
  if (!live) return undefined;
  const cluster = await ifThere(client.get(clusters, { namespace, name: live.spec?.clusterName || '-' }, options));
  if (!cluster) return undefined;
  const deployment = { ...live, spec: withDefaults(live) };
  const labelSelector = `${labels.deploymentName}=${name.name}`;
  const [sets, theirs] = await Promise.all([
    client.list(machineSets, { namespace, labelSelector, ...options }),
    client.list(machines, { namespace, labelSelector, ...options }),
  ]);
  const own = sets.items.filter((set) => getControllerOf(set)?.uid === live.metadata.uid);
  const uids = new Set(own.map(({ metadata }) => metadata.uid));
  const ref = deployment.spec.template?.spec?.infrastructureRef;
  const now = clock.now();
  return {
    live,
    snapshot: {
      deployment,
      cluster,
      sets: findSets(deployment, own, now),
      machines: theirs.items.filter((machine) => uids.has(getControllerOf(machine)?.uid ?? '')),
      template: ref && (await externals.read(namespace, ref, options)),
      now,
    },
  };
};
