import { formatProviderID } from '@tartan/api';
import { isKubeError, nodes } from '@tartan/kube';
import type { Actor, Pass } from './pass.ts';

/**
 * The Node of a Mac that was wiped. It goes with its machine as a rule; but an agent that lives on until the wipe registers it anew, and of
 * a stranded Mac there is no machine. From here on nobody does: the disk that its agent was on is empty.
 */
export const forgetNodes = async (
  { client, gate, log }: Actor,
  { host, snapshot: { id, spec }, signal }: Pass,
): Promise<void> => {
  const providerID = formatProviderID({ zone: spec.zone, serverID: id });
  const { items } = await client.list(nodes, { signal });
  for (const { metadata, spec: node } of items) {
    if (node?.providerID !== providerID) continue;
    const { name, uid } = metadata;
    gate.pass();
    log.info('Deletes the Node of a Mac that was wiped', { node: name, server: host.metadata.name });
    try {
      await client.delete(nodes, { name }, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isKubeError(error, 'notFound', 'conflict')) throw error;
    }
  }
};
