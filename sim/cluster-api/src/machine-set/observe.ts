import { getControllerOf, type Live } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import { clusters, type Machine, type MachineSet, machineDeployments, machines, machineSets } from '../kinds.ts';
import { labels } from '../names.ts';
import { selectorText } from '../selection/label-selector.ts';
import { ifThere } from '../writing/found.ts';
import type { Snapshot } from './decide.ts';

const isOurs = (machineSet: Live<MachineSet>, machine: Live<Machine>): boolean => {
  const owner = getControllerOf(machine);
  // One that goes is not adopted: it would come to us only to be deleted.
  return owner ? owner.uid === machineSet.metadata.uid : machine.metadata.deletionTimestamp === undefined;
};

/** Undefined: the MachineSet is gone, or nobody knows its Cluster. */
export const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: PassOptions,
): Promise<Snapshot | undefined> => {
  const { namespace } = name;
  const machineSet = await ifThere(client.get(machineSets, name, options));
  if (!machineSet) return undefined;
  const { clusterName, selector, template } = machineSet.spec ?? {};
  const cluster = await ifThere(client.get(clusters, { namespace, name: clusterName || '-' }, options));
  if (!cluster) return undefined;
  const deployment = machineSet.metadata.labels?.[labels.deploymentName];
  const labelSelector = selectorText(selector) || `${labels.setName}=${name.name}`;
  const { items } = await client.list(machines, { namespace, labelSelector, ...options });
  const ref = template?.spec?.infrastructureRef;
  return {
    machineSet,
    cluster,
    machineDeployment: deployment
      ? await ifThere(client.get(machineDeployments, { namespace, name: deployment }, options))
      : undefined,
    machines: items.filter((machine) => isOurs(machineSet, machine)),
    template: ref && (await externals.read(namespace, ref, options)),
    now: clock.now(),
  };
};
