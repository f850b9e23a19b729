import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, type Live, nodes, type Resource } from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import type { MachineIdentity, MachineOf } from '../identity/index.ts';
import { isNodeOf } from '../identity/node-owner.ts';
import { refusalOf } from '../machine/cluster-facts.ts';
import { providerIDOf } from '../machine/node-facts.ts';
import { clusterNameOf, pausesOf } from '../pause/pauses.ts';
import { type PauseReader, readCluster } from '../pause/read-pauses.ts';
import { heldMac, unlessGone } from './held-mac.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;

/**
 * The machine whose Node bears a name, and whether the Node of that name is its own, both read from the server: a verdict is final. Two
 * machines of one name in two namespaces want the same Node; it belongs to the older one, so that nobody takes a Node over by making a
 * machine elsewhere. Machines that may have no Mac do not count, unless they were made ready before: their Macs renew their certificates.
 */
export const machineOf =
  (
    client: Pick<Client, 'get' | 'list'>,
    coreClusters: Resource<CoreCluster>,
    allowedNamespaces: readonly string[],
  ): MachineOf =>
  async (nodeName, signal) => {
    const fieldSelector = `metadata.name=${nodeName}`;
    const { items } = await client.list(machine.resource, { fieldSelector, signal });
    const [oldest] = items.filter((each) => counts(each, allowedNamespaces)).toSorted(byAge);
    if (oldest === undefined) return undefined;
    const { metadata, status } = oldest;
    return {
      uid: metadata.uid,
      deleting: metadata.deletionTimestamp !== undefined && !(await isPaused({ client, coreClusters }, oldest, signal)),
      node: await whoseNode(client, oldest, signal),
      serverID: status?.serverID || undefined,
      providerID: providerIDOf(oldest),
      tokenID: status?.joinTokenID,
      tokenExpiresAt: status?.joinTokenExpires === undefined ? undefined : Date.parse(status.joinTokenExpires),
    };
  };

/** The deletion waits, and the Mac goes on with its Pods: its certificate is renewed. */
const isPaused = async (reader: PauseReader, each: Machine, signal: AbortSignal) => {
  const name = clusterNameOf(each);
  return pausesOf(each, name && (await readCluster(reader, name, { signal }))).length > 0;
};

const counts = (each: Machine, allowedNamespaces: readonly string[]): boolean =>
  each.status?.initialization?.provisioned === true || refusalOf(each, allowedNamespaces) === undefined;

const byAge = (a: Machine, b: Machine): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  a.metadata.uid.localeCompare(b.metadata.uid);

const whoseNode = async (
  client: Pick<Client, 'get'>,
  each: Machine,
  signal: AbortSignal,
): Promise<MachineIdentity['node']> => {
  const node = await unlessGone(client.get(nodes, { name: each.metadata.name }, { signal }));
  if (node === undefined) return 'absent';
  const address = node.spec?.providerID ? undefined : await provenAddress(client, each, signal);
  return isNodeOf(node, { providerID: providerIDOf(each), address }) ? 'ours' : 'foreign';
};

/**
 * Where the machine's Mac has shown the host key that is pinned for its present install. A Node without a providerID is believed to be
 * that Mac only there.
 */
const provenAddress = async (
  client: Pick<Client, 'get'>,
  { metadata: { uid }, status }: Machine,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const mac = await heldMac(client, { uid, serverID: status?.serverID || undefined }, signal);
  return mac !== undefined && status?.hostKeyEpoch === mac.installs ? mac.address : undefined;
};
