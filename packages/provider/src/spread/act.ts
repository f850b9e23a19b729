import { annotations } from '@tartan/api';
import {
  again,
  type Client,
  deployments,
  type EventRecorder,
  isKubeError,
  type Live,
  type Logger,
  type Outcome,
  settled,
} from '@tartan/kube';
import type { Deployment } from './observe.ts';
import { happeningOf } from './status.ts';

export interface Roller {
  client: Pick<Client, 'patch'>;
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
}

/** Somebody else has written the Deployment: look at what it is now. */
const conflictPauseMs = 1000;

/**
 * Stamps the Pod template with the set of Macs, which makes Kubernetes roll the Deployment.
 *
 * Guarantees: nothing but that one annotation changes. UID and resource version keep the patch to the very state that was found
 * settled: a deploy that begins meanwhile is not rolled over. To repeat it after a crash changes nothing.
 */
export const roll = async (
  { client, events, log }: Roller,
  deployment: Live<Deployment>,
  { hash, ready }: { hash: string; ready: readonly string[] },
  signal: AbortSignal,
): Promise<Outcome> => {
  const { name, namespace = '', uid, resourceVersion } = deployment.metadata;
  const template = { metadata: { annotations: { [annotations.fleetHash]: hash } } };
  const body = { metadata: { uid, resourceVersion }, spec: { template } };
  try {
    await client.patch(deployments, { name, namespace }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return again(conflictPauseMs);
    throw error;
  }
  log.info('Rolled a Deployment over the Macs that are Ready now', { namespace, name, hash, ready });
  events.event(deployment, happeningOf(ready));
  return settled;
};
