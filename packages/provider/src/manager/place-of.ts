import { type Client, nodes } from '@tartan/kube';
import type { MachineIdentity, NodeWord, PlaceOf } from '../identity/index.ts';
import { heldMac, unlessGone } from './held-mac.ts';

type Node = NonNullable<(typeof nodes)['ofType']>;

/**
 * Where the Mac of a machine is, read from the server. Of the machine's own `status.addresses` nothing is taken: part of it is copied
 * from its Node. Other Nodes are listed only where a Node's word can count, so with a tailnet.
 */
export const placeOf =
  (client: Pick<Client, 'get' | 'list'>, { tailnet }: { readonly tailnet: boolean }): PlaceOf =>
  async (nodeName, machine, signal) => {
    const node = await unlessGone(client.get(nodes, { name: nodeName }, { signal }));
    const others = tailnet ? (await client.list(nodes, { signal })).items : [];
    const mac = await heldMac(client, machine, signal);
    return {
      vouched: mac?.address === undefined ? [] : [mac.address],
      node: wordOf(node, machine),
      tailnet,
      elsewhere: new Set(others.filter(({ metadata }) => metadata.name !== nodeName).flatMap(addressesOf)),
    };
  };

const wordOf = (node: Node | undefined, { providerID }: MachineIdentity): NodeWord => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return { kind: 'absent' };
  if (node.spec?.providerID && node.spec.providerID !== providerID) return { kind: 'absent' };
  const internal = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return { kind: 'ours', internalAddresses: internal.map(({ address }) => address) };
};

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);
