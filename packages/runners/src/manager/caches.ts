import { labels, labelValues, runnerPool } from '@tartan/api';
import {
  type Client,
  createWatchCache,
  type Logger,
  nodes,
  pods,
  serviceAccounts,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { accountIndexes, podIndexes } from '../pool/indexes.ts';
import { leanAccount, leanNode, leanPod } from './lean.ts';

interface CacheOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Copies of all that is looked at again and again. Secrets are read one by one, when they are needed. */
export const createCaches = ({ client, namespace, clock, random, log }: CacheOptions) => {
  const common = { client, clock, random, log };
  return {
    pools: createWatchCache({ ...common, resource: runnerPool.resource, namespace, transform: withoutManagedFields }),
    pods: createWatchCache({
      ...common,
      resource: pods,
      namespace,
      labelSelector: `${labels.runner}=true`,
      indexes: podIndexes,
      transform: leanPod,
    }),
    accounts: createWatchCache({
      ...common,
      resource: serviceAccounts,
      namespace,
      labelSelector: labels.runnerPool,
      indexes: accountIndexes,
      transform: leanAccount,
    }),
    // Nothing else of a cluster is a Mac. A Pod that somebody put elsewhere has its Node looked up by name.
    nodes: createWatchCache({
      ...common,
      resource: nodes,
      labelSelector: `${labels.runtime}=${labelValues.runtime}`,
      transform: leanNode,
    }),
  };
};
