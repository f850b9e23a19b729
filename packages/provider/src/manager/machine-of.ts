import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Client, Live } from '@tartan/kube';
import type { MachineOf } from '../identity/index.ts';
import { providerIDOf } from '../machine/node-facts.ts';

/**
 * The machine whose Node bears a name, read from the server: a denial is final. Two machines of one name in two namespaces want the same
 * Node; it belongs to the older one, so that nobody takes a Node over by making a machine elsewhere.
 */
export const machineOf =
  (client: Pick<Client, 'list'>): MachineOf =>
  async (nodeName, signal) => {
    const fieldSelector = `metadata.name=${nodeName}`;
    const { items } = await client.list(machine.resource, { fieldSelector, signal });
    const [oldest] = items.toSorted(byAge);
    if (oldest === undefined) return undefined;
    const { metadata, status } = oldest;
    return {
      uid: metadata.uid,
      deleting: metadata.deletionTimestamp !== undefined,
      serverID: status?.serverID || undefined,
      providerID: providerIDOf(oldest),
      tokenID: status?.joinTokenID,
      tokenExpiresAt: status?.joinTokenExpires === undefined ? undefined : Date.parse(status.joinTokenExpires),
    };
  };

const byAge = (a: Live<ScalewayAppleSiliconMachine>, b: Live<ScalewayAppleSiliconMachine>): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  a.metadata.uid.localeCompare(b.metadata.uid);
