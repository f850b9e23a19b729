import { ApiError } from '../errors/api-error.ts';
import { eventTtl } from './event-ttl.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespace-controller.ts';
import { rootCaPublisher, serviceAccounts } from './namespace-objects.ts';
import { nodeLifecycle } from './node/node-lifecycle.ts';
import { nodeTaints } from './node/node-taints.ts';
import { taintEviction } from './node/taint-eviction.ts';
import { podGc } from './pod-gc.ts';
import type { Controller, OnError } from './runtime/workqueue.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { tokenCleaner } from './token-cleaner.ts';
import { deployments } from './workloads/deployments.ts';
import { replicaSets } from './workloads/replica-sets.ts';

export interface ControllerOptions {
  /** PEM. */
  caCertificate: string;
  /** Called with unexpected errors of controllers, which retry anyway. Errors of the API are expected. */
  report?: (error: unknown) => void;
}

/** The controllers of the control plane. The first one creates the namespaces that the others need. */
export const controllers = ({ caCertificate, report = () => {} }: ControllerOptions): Controller[] => {
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
