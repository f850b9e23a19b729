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
 * The machine of the Node with this name, and whether the Node is its own, from live reads: a verdict is final. If machines in two
 * namespaces have the name, the Node belongs to the older one, so that a user cannot take over a Node by creating a machine elsewhere.
 * Machines that may not have a Mac do not count, unless they are provisioned: their Macs renew their certificates.
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

/** A pause blocks the deletion, and the Mac keeps running its Pods: its certificate is renewed. */
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
 * The address at which the machine's Mac has shown the pinned host key of its present install. A Node without a provider ID counts as that
 * Mac only at this address.
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
 * The addresses of a machine's Mac, from live reads. Ignores the machine's `status.addresses`, part of which is copied from its Node. Lists
 * other Nodes only with a tailnet, where a Node's own report can count.
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
  /** From Scaleway. */
  readonly address: string | undefined;
  readonly installs: number;
}

/** The Mac that the machine holds, from a live read. */
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
