import { type CallOptions, type Client, isKubeError, leases, type Live, nodes } from '@tartan/kube';
import { microTimestamp } from '@tartan/kube/clock';
import { newNode, type Node, nodeChanges, type Report, statusChanges } from './node-object.ts';

const leaseSeconds = 40;

const absent = (error: unknown): undefined => {
  if (isKubeError(error, 'notFound')) return undefined;
  throw error;
};

/**
 * Makes the Node what the report says, and makes it at all when there is none: by the rights that NodeRestriction leaves to a Node.
 * How it is comes before what it has: whoever reads that this Mac was rolled must not find beside it how the last agent was.
 */
export const reportNode = async (client: Client, report: Report, now: number, call: CallOptions): Promise<void> => {
  const name = { name: report.flags.nodeName };
  const found = await client.get(nodes, name, call).catch(absent);
  let node = found ?? (await client.create(nodes, newNode(report), call));
  const status = statusChanges(node, report, now);
  const onStatus = { ...call, subresource: 'status' };
  if (status) node = await client.patch(nodes, name, { type: 'strategic', body: { status } }, onStatus);
  const changes = nodeChanges(node, report);
  if (changes) node = await client.patch(nodes, name, { type: 'strategic', body: changes }, call);
  await renewLease(client, node, now, call);
};

/** It goes with the Node that it speaks for. */
const renewLease = async (client: Client, node: Live<Node>, now: number, call: CallOptions): Promise<void> => {
  const { name, uid } = node.metadata;
  const metadata = {
    namespace: 'kube-node-lease',
    name,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
  };
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp(now) };
  const found = await client.get(leases, metadata, call).catch(absent);
  if (found === undefined) {
    await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, call);
    return;
  }
  const { ownerReferences } = metadata;
  await client.update(leases, { ...found, metadata: { ...found.metadata, ownerReferences }, spec }, call);
};
