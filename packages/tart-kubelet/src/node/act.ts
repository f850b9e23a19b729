import { type Client, isKubeError, type Live, nodes } from '@tartan/kube';
import type { Decision } from './decide.ts';
import type { Node, NodeStatus } from './observe.ts';

export interface ActContext {
  readonly client: Client;
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** In full: by their type addresses would be merged with those that are there, and an old one would stay (measured by many). */
const replaceAddresses = ({ addresses, ...rest }: NodeStatus): object =>
  addresses === undefined ? rest : { ...rest, addresses: [{ $patch: 'replace' }, ...addresses] };

/**
 * Carries one decision out and answers the Node as it is then; `undefined` when another look is needed. Each is one write, safe to
 * repeat, that holds only what it changes: what others write on the Node meanwhile stays. Status and metadata are written apart, as the
 * server drops either from a write of the other (INC-36), and each is made from what was observed, never from an answer (INC-12).
 */
export const act = async (
  decision: Exclude<Decision, { kind: 'done' }>,
  { client, nodeName, signal }: ActContext,
): Promise<Live<Node> | undefined> => {
  const name = { name: nodeName };
  switch (decision.kind) {
    case 'register':
      // Servers that do not know a field drop it.
      return client.create(nodes, decision.node, { signal, fieldValidation: 'Ignore' }).catch((error: unknown) => {
        if (isKubeError(error, 'alreadyExists')) return undefined;
        throw error;
      });
    case 'set provider ID':
      return client.patch(
        nodes,
        name,
        { type: 'merge', body: { spec: { providerID: decision.providerID } } },
        { signal },
      );
    case 'patch status': {
      const body = { status: replaceAddresses(decision.status) };
      const options = { subresource: 'status', fieldValidation: 'Ignore', signal } as const;
      return client.patch(nodes, name, { type: 'strategic', body }, options);
    }
    case 'patch metadata':
      return client.patch(nodes, name, { type: 'merge', body: { metadata: decision.metadata } }, { signal });
  }
};
