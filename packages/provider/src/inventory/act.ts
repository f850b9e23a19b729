import { macHost } from '@tartan/api';
import { type Client, isKubeError, type Logger } from '@tartan/kube';
import type { Decision } from './decide.ts';

/**
 * Makes MacHosts. One that is there already was made by somebody who knew as much, and stays as it is. One that cannot be made does not
 * keep the others from being made; what was wrong with the first such is thrown at the end.
 */
export const create = async (
  client: Pick<Client, 'create'>,
  log: Logger,
  decision: Decision,
  signal: AbortSignal,
): Promise<void> => {
  const failures: unknown[] = [];
  for (const { id, spec } of decision) {
    try {
      await client.create(macHost.resource, macHost.make({ metadata: { name: id }, spec }), { signal });
      log.info('Found a Mac', {
        server: id,
        zone: spec.zone,
        heldBy: spec.consumerRef?.name,
        release: spec.release?.reason,
      });
    } catch (error) {
      if (!isKubeError(error, 'alreadyExists')) failures.push(error);
    }
    signal.throwIfAborted();
  }
  if (failures.length > 0) throw failures[0];
};
