import { macTaint } from '@tartan/api';
import { desiredAnnotations, desiredLabels, type MetadataChanges, metadataChanges } from './metadata.ts';
import type { Node, NodeStatus, Snapshot } from './observe.ts';
import { nextStatusRefresh, statusChanges } from './status.ts';

export type Decision =
  /** There is no such Node, for the first time or again (INC-35). */
  | { readonly kind: 'register'; readonly node: Node }
  /** It has no provider id. Cluster API binds by nothing else (INC-38). */
  | { readonly kind: 'set provider ID'; readonly providerID: string }
  | { readonly kind: 'patch status'; readonly status: NodeStatus }
  | { readonly kind: 'patch metadata'; readonly metadata: MetadataChanges }
  /** It says everything. At the latest then its status is written again. */
  | { readonly kind: 'done'; readonly until: number };

/** The Node whole, in one write: its taint can never be added later by itself, and whoever sees it sees how it is. */
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
 * One write at a time, the most needed first. Pure and total.
 *
 * How the Mac is comes before what it has: whoever reads the new summary, and with it that this Mac was rolled, must not find beside it
 * how the agent before was. Of the spec nothing is ever written but a provider id where there is none (C9): cordons and taints are
 * others'.
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

/** What is wrong with the Node and cannot be mended from here: for the log of the agent. */
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
