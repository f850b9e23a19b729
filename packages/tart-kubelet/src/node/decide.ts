import { macTaint } from '@tartan/api';
import { desiredAnnotations, desiredLabels, type MetadataChanges, metadataChanges } from './metadata.ts';
import type { Node, NodeStatus, Snapshot } from './observe.ts';
import { nextStatusRefresh, statusChanges } from './status.ts';

export type Decision =
  /** The Node does not exist, initially or after a deletion (INC-35). */
  | { readonly kind: 'register'; readonly node: Node }
  /** The Node has no provider ID. Cluster API binds Nodes only by it (INC-38). */
  | { readonly kind: 'set provider ID'; readonly providerID: string }
  | { readonly kind: 'patch status'; readonly status: NodeStatus }
  | { readonly kind: 'patch metadata'; readonly metadata: MetadataChanges }
  /** Everything is up to date. The status is due for a refresh at `until`. */
  | { readonly kind: 'done'; readonly until: number };

/** Creates the complete Node in one write: a Node cannot add its own taint later, and no client sees a partial Node. */
const newNode = (snapshot: Snapshot): Node => {
  const { nodeName, providerID } = snapshot.config;
  const status = statusChanges({ ...snapshot, node: undefined });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, labels: desiredLabels(snapshot), annotations: desiredAnnotations(snapshot) },
    spec: { taints: [{ ...macTaint }], ...(providerID === undefined ? {} : { providerID }) },
    ...(status && { status }),
  };
};

/**
 * One write at a time, the most important first. Pure and total.
 *
 * Status before metadata: a client that reads the new host configuration hash, and so concludes that this Mac was updated, must not see
 * the previous agent's status. The only field of the spec that is ever written is a missing provider ID (C9): cordons and taints belong
 * to others.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { node, config } = snapshot;
  if (node === undefined) return { kind: 'register', node: newNode(snapshot) };
  if (config.providerID !== undefined && !node.spec?.providerID)
    return { kind: 'set provider ID', providerID: config.providerID };
  const status = statusChanges(snapshot);
  if (status !== undefined) return { kind: 'patch status', status };
  const metadata = metadataChanges(snapshot);
  if (metadata !== undefined) return { kind: 'patch metadata', metadata };
  return { kind: 'done', until: nextStatusRefresh(snapshot) };
};

/** Problems of the Node that the agent cannot fix, for its log. */
export const unfixableProblems = ({ node, config }: Snapshot): readonly string[] => {
  if (node === undefined) return [];
  const { providerID, taints = [] } = node.spec ?? {};
  const foreign = config.providerID !== undefined && providerID && providerID !== config.providerID;
  return [
    ...(foreign
      ? [
          'The Node has the provider id of another server, and it cannot be changed: delete the Node, and it comes back.',
        ]
      : []),
    ...(taints.some(({ key }) => key === macTaint.key)
      ? []
      : [`The Node lacks the taint ${macTaint.key}, and no Node may taint itself: delete it, and it comes back.`]),
  ];
};
