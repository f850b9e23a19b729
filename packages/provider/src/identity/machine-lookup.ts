import { machine, macHost } from '@tartan/api';
import { type Client, ignoreNotFound, nodes, type Resource } from '@tartan/kube';
import type { Machine, Node } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';
import { sshAddressOf } from '../host-work/ssh-address.ts';
import { refusalOf } from '../machine/observe/cluster.ts';
import { isNodeOf, providerIDOf } from '../machine/observe/node.ts';
import { clusterNameOf, type PauseReader, pauseReasonsOf, readCluster } from '../pause/pauses.ts';
import type { MacAddressesOf, MachineIdentity, MachineOf, NodeAddresses } from './csr/observe.ts';

/**
 * The machine whose Node bears a name, and whether the Node of that name is its own, both read from the server: a verdict is final. Two
 * machines of one name in two namespaces want the same Node; it belongs to the older one, so that nobody takes a Node over by making a
 * machine elsewhere. Machines that may have no Mac do not count, unless they were made ready before: their Macs renew their certificates.
 */
export const machineLookup =
  (
    client: Pick<Client, 'get' | 'list'>,
    coreClusters: Resource<CoreCluster>,
    allowedNamespaces: readonly string[],
  ): MachineOf =>
  async (nodeName, signal) => {
    const fieldSelector = `metadata.name=${nodeName}`;
    const { items } = await client.list(machine.resource, { fieldSelector, signal });
    const [oldest] = items.filter((each) => isEligible(each, allowedNamespaces)).toSorted(byAge);
    if (oldest === undefined) return undefined;
    const { metadata, status } = oldest;
    return {
      uid: metadata.uid,
      deleting: metadata.deletionTimestamp !== undefined && !(await isPaused({ client, coreClusters }, oldest, signal)),
      node: await nodeOwnership(client, oldest, signal),
      serverID: status?.serverID || undefined,
      providerID: providerIDOf(oldest),
      tokenID: status?.joinTokenID,
      tokenExpiresAt: status?.joinTokenExpires === undefined ? undefined : Date.parse(status.joinTokenExpires),
    };
  };

/** The deletion waits, and the Mac goes on with its Pods: its certificate is renewed. */
const isPaused = async (reader: PauseReader, each: Machine, signal: AbortSignal) => {
  const name = clusterNameOf(each);
  return pauseReasonsOf(each, name && (await readCluster(reader, name, { signal }))).length > 0;
};

const isEligible = (each: Machine, allowedNamespaces: readonly string[]): boolean =>
  each.status?.initialization?.provisioned === true || refusalOf(each, allowedNamespaces) === undefined;

const byAge = (a: Machine, b: Machine): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  a.metadata.uid.localeCompare(b.metadata.uid);

const nodeOwnership = async (
  client: Pick<Client, 'get'>,
  each: Machine,
  signal: AbortSignal,
): Promise<MachineIdentity['node']> => {
  const node = await ignoreNotFound(client.get(nodes, { name: each.metadata.name }, { signal }));
  if (node === undefined) return 'absent';
  const address = node.spec?.providerID ? undefined : await verifiedAddress(client, each, signal);
  return isNodeOf(node, { providerID: providerIDOf(each), address }) ? 'ours' : 'foreign';
};

/**
 * Where the machine's Mac has shown the host key that is pinned for its present install. A Node without a providerID is believed to be
 * that Mac only there.
 */
const verifiedAddress = async (
  client: Pick<Client, 'get'>,
  { metadata: { uid }, status }: Machine,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const mac = await readHeldMac(client, { uid, serverID: status?.serverID || undefined }, signal);
  return mac !== undefined && status?.hostKeyEpoch === mac.installs ? mac.address : undefined;
};

/**
 * Where the Mac of a machine is, read from the server. Of the machine's own `status.addresses` nothing is taken: part of it is copied
 * from its Node. Other Nodes are listed only where a Node's word can count, so with a tailnet.
 */
export const macAddressLookup =
  (client: Pick<Client, 'get' | 'list'>, { tailnet }: { readonly tailnet: boolean }): MacAddressesOf =>
  async (nodeName, machine, signal) => {
    const node = await ignoreNotFound(client.get(nodes, { name: nodeName }, { signal }));
    const others = tailnet ? (await client.list(nodes, { signal })).items : [];
    const mac = await readHeldMac(client, machine, signal);
    return {
      providerAddresses: mac?.address === undefined ? [] : [mac.address],
      node: nodeAddresses(node, machine),
      tailnet,
      otherNodeAddresses: new Set(others.filter(({ metadata }) => metadata.name !== nodeName).flatMap(addressesOf)),
    };
  };

const nodeAddresses = (node: Node | undefined, { providerID }: MachineIdentity): NodeAddresses => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return { kind: 'absent' };
  if (node.spec?.providerID && node.spec.providerID !== providerID) return { kind: 'absent' };
  const internal = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return { kind: 'ours', internalAddresses: internal.map(({ address }) => address) };
};

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

interface HeldMac {
  /** As Scaleway tells it. */
  readonly address: string | undefined;
  readonly installs: number;
}

/** The Mac that the machine holds at this moment, read from the server. */
const readHeldMac = async (
  client: Pick<Client, 'get'>,
  { uid, serverID }: Pick<MachineIdentity, 'uid' | 'serverID'>,
  signal: AbortSignal,
): Promise<HeldMac | undefined> => {
  if (serverID === undefined) return undefined;
  const host = await ignoreNotFound(client.get(macHost.resource, { name: serverID }, { signal }));
  if (host?.spec.consumerRef?.uid !== uid) return undefined;
  const { ip, installs = 0 } = host.status ?? {};
  return { address: ip === undefined ? undefined : sshAddressOf(ip)?.host, installs };
};
