import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Client, Live, Resource } from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import type { MachineOf } from '../identity/index.ts';
import { providerIDOf } from '../machine/node-facts.ts';
import { clusterNameOf, pausesOf } from '../pause/pauses.ts';
import { type PauseReader, readCluster } from '../pause/read-pauses.ts';

/**
 * The machine whose Node bears a name, read from the server: a denial is final. Two machines of one name in two namespaces want the same
 * Node; it belongs to the older one, so that nobody takes a Node over by making a machine elsewhere.
 */
export const machineOf =
  (client: Pick<Client, 'get' | 'list'>, coreClusters: Resource<CoreCluster>): MachineOf =>
  async (nodeName, signal) => {
    const fieldSelector = `metadata.name=${nodeName}`;
    const { items } = await client.list(machine.resource, { fieldSelector, signal });
    const [oldest] = items.toSorted(byAge);
    if (oldest === undefined) return undefined;
    const { metadata, status } = oldest;
    return {
      uid: metadata.uid,
      deleting: metadata.deletionTimestamp !== undefined && !(await isPaused({ client, coreClusters }, oldest, signal)),
      serverID: status?.serverID || undefined,
      providerID: providerIDOf(oldest),
      tokenID: status?.joinTokenID,
      tokenExpiresAt: status?.joinTokenExpires === undefined ? undefined : Date.parse(status.joinTokenExpires),
    };
  };

/** The deletion waits, and the Mac goes on with its Pods: its certificate is renewed. */
const isPaused = async (reader: PauseReader, machine: Live<ScalewayAppleSiliconMachine>, signal: AbortSignal) => {
  const name = clusterNameOf(machine);
  return pausesOf(machine, name && (await readCluster(reader, name, { signal }))).length > 0;
};

const byAge = (a: Live<ScalewayAppleSiliconMachine>, b: Live<ScalewayAppleSiliconMachine>): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  a.metadata.uid.localeCompare(b.metadata.uid);
