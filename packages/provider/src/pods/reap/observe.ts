import { labels, labelValues } from '@tartan/api';
import { type Client, ignoreNotFound, type Live, type ObjectName, pods, type Resource } from '@tartan/kube';
import type { Listers, Node, Pod } from '../../controller-deps.ts';
import { type CoreMachine, ownerMachineOf } from '../../core/machine.ts';
import type { PodFacts, Snapshot } from './decide.ts';

export interface ObserveDeps extends Pick<Listers, 'nodes' | 'machines'> {
  client: Pick<Client, 'get' | 'list'>;
  coreMachines: Resource<CoreMachine>;
}

export interface Observation {
  snapshot: Snapshot;
  /** As they were read, for whoever deletes them. */
  pods: readonly Live<Pod>[];
}

export const isMac = ({ metadata }: Node): boolean => metadata?.labels?.[labels.runtime] === labelValues.runtime;
export const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;

/**
 * Asks the server for no more than what is still open: rolls cordon Macs for hours, and Pods are listed only once the Machine goes. The
 * Machine is read before the Pods, and both from the server, so that what is found of the Pods is never older than that their Mac goes.
 */
export const observe = async (observer: ObserveDeps, name: string, signal: AbortSignal): Promise<Observation> => {
  const node = observer.nodes.get(name);
  const facts = node && { isMac: isMac(node), cordoned: isCordoned(node) };
  const nothing: Observation = { snapshot: { node: facts, machine: 'unknown', pods: [] }, pods: [] };
  if (node === undefined || !facts?.isMac || !facts.cordoned) return nothing;
  const machine = await readMachineOf(observer, node, signal);
  if (machine !== 'deleting') return { ...nothing, snapshot: { ...nothing.snapshot, machine } };
  const { items } = await observer.client.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal });
  return { snapshot: { node: facts, machine, pods: items.map(factsOf) }, pods: items };
};

/** The one that owns the machine whose Mac this Node is. One that is gone drains nothing any more. */
const readMachineOf = async (
  { client, machines, coreMachines }: ObserveDeps,
  { metadata, spec }: Live<Node>,
  signal: AbortSignal,
): Promise<Snapshot['machine']> => {
  const ours = machines
    .list()
    .find((each) => each.metadata.name === metadata.name && each.spec.providerID === spec?.providerID);
  const owner = ours && ownerMachineOf(ours);
  if (owner === undefined) return 'unknown';
  const at: ObjectName = { namespace: ours?.metadata.namespace ?? '', name: owner.name };
  const machine = await ignoreNotFound(client.get(coreMachines, at, { signal }));
  if (machine?.metadata.uid !== owner.uid) return 'unknown';
  return machine.metadata.deletionTimestamp === undefined ? 'staying' : 'deleting';
};

const factsOf = ({ metadata, status }: Live<Pod>): PodFacts => ({
  uid: metadata.uid,
  ended: status?.phase === 'Succeeded' || status?.phase === 'Failed',
  deleting: metadata.deletionTimestamp !== undefined,
});
