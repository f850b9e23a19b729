import { ApiError } from '../status/api-error.ts';
import type { Controller } from './controller.ts';
import { eventTtl } from './event-ttl.ts';
import { garbageCollector } from './garbage-collector.ts';
import type { OnError } from './key-queue.ts';
import { namespaceController } from './namespaces.ts';
import { nodeLifecycle } from './node-lifecycle.ts';
import { nodeTaints } from './node-taints.ts';
import { podGc } from './pod-gc.ts';
import { rootCaPublisher } from './root-ca.ts';
import { scheduler } from './scheduler.ts';
import { serviceAccounts } from './service-accounts.ts';
import { taintEviction } from './taint-eviction.ts';
import { tokenCleaner } from './token-cleaner.ts';
import { deployments } from './workloads/deployments.ts';
import { replicaSets } from './workloads/replica-sets.ts';

export interface ControllerParts {
  /** PEM. */
  caCertificate: string;
  /** Told of what a controller did not expect; it tries again anyway. Refusals of the API are expected. */
  report?: (error: unknown) => void;
}

/** What makes a control plane out of an API server. The first one makes the namespaces that the others need. */
export const controllers = ({ caCertificate, report = () => {} }: ControllerParts): Controller[] => {
  const onError: OnError = (error) => {
    if (!(error instanceof ApiError)) report(error);
  };
  return [
    namespaceController(onError),
    serviceAccounts(onError),
    rootCaPublisher(caCertificate, onError),
    garbageCollector(onError),
    nodeTaints(onError),
    nodeLifecycle(onError),
    taintEviction(onError),
    podGc(onError),
    deployments(onError),
    replicaSets(onError),
    scheduler(onError),
    eventTtl(onError),
    tokenCleaner(onError),
  ];
};
