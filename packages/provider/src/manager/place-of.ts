import { macHost } from '@tartan/api';
import { type Client, isKubeError, nodes } from '@tartan/kube';
import { sshAddressOf } from '../host-work/ssh-address.ts';
import type { MachineIdentity, NodeWord, PlaceOf } from '../identity/index.ts';

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
    return {
      vouched: await vouchedFor(client, machine, signal),
      node: wordOf(node, machine),
      tailnet,
      elsewhere: new Set(others.filter(({ metadata }) => metadata.name !== nodeName).flatMap(addressesOf)),
    };
  };

/** The address of the Mac as Scaleway tells it, if the machine holds that Mac now. */
const vouchedFor = async (
  client: Pick<Client, 'get'>,
  { uid, serverID }: MachineIdentity,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  if (serverID === undefined) return [];
  const host = await unlessGone(client.get(macHost.resource, { name: serverID }, { signal }));
  const ip = host?.spec.consumerRef?.uid === uid ? host.status?.ip : undefined;
  const address = ip === undefined ? undefined : sshAddressOf(ip)?.host;
  return address === undefined ? [] : [address];
};

const wordOf = (node: Node | undefined, { providerID }: MachineIdentity): NodeWord => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return { kind: 'absent' };
  if (node.spec?.providerID && node.spec.providerID !== providerID) return { kind: 'foreign' };
  const internal = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return { kind: 'ours', internalAddresses: internal.map(({ address }) => address) };
};

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

const unlessGone = async <T>(call: Promise<T>): Promise<T | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
