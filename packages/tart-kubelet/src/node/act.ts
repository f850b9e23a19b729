import { type Client, isKubeError, type Live, nodes } from '@tartan/kube';
import type { Decision } from './decide.ts';
import type { Node, NodeStatus } from './observe.ts';

export interface ActContext {
  readonly client: Client;
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** Replaces the list: by default a strategic merge patch merges addresses by type, and an old one would stay. */
const replaceAddresses = ({ addresses, ...rest }: NodeStatus): object =>
  addresses === undefined ? rest : { ...rest, addresses: [{ $patch: 'replace' }, ...addresses] };

/**
 * Executes one decision and resolves with the updated Node; `undefined` if it must be observed again. Each decision is one idempotent
 * write of the changes only, so other writers' fields stay. Status and metadata are separate writes, as the server drops either from a
 * write of the other (INC-36); each is computed from the observation, never from a response (INC-12).
 */
export const act = async (
  decision: Exclude<Decision, { kind: 'done' }>,
  { client, nodeName, signal }: ActContext,
): Promise<Live<Node> | undefined> => {
  const name = { name: nodeName };
  switch (decision.kind) {
    case 'register':
      // Older API servers drop unknown fields.
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
