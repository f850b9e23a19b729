import { macTaint } from '@tartan/api';
import type { Snapshot } from './snapshot.ts';

/** What is wrong with the Node and cannot be mended from here: for the log of the agent. */
export const complaintsAbout = ({ node, wanted }: Snapshot): readonly string[] => {
  if (node === undefined) return [];
  const { providerID, taints = [] } = node.spec ?? {};
  const foreign = wanted.providerID !== undefined && providerID && providerID !== wanted.providerID;
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
