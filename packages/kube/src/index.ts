/** A controller runtime: talk to Kubernetes, keep copies of what is there, work on what changes, one leader at a time. */

// Talking to an API server.
export { type ClusterConfig } from './config/cluster-config.ts';
export { parseYaml } from './config/config-file.ts';
export { loadConfig } from './config/load-config.ts';
export { httpsTransport } from './transport/https-transport.ts';
export { inProcessTransport } from './transport/in-process-transport.ts';
export { parseJson } from './json.ts';
export { fetchText, type FetchTextOptions } from './transport/fetch-text.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport/transport.ts';
export type { CallOptions, Client, List, ListOptions, WatchEvent } from './client/client.ts';
export { createClient } from './client/create-client.ts';
export { createSubresources, type Subresources } from './client/subresources.ts';
export { errorMessage, ignoreNotFound, isKubeError, KubeError, type KubeErrorReason } from './errors/kube-error.ts';

// Objects.
export * from './objects/builtin.ts';
export {
  type Condition,
  type ConditionStatus,
  type ConditionUpdate,
  getCondition,
  isConditionTrue,
  setCondition,
  setConditions,
} from './objects/conditions.ts';
export { addFinalizer, hasFinalizer, removeFinalizer } from './objects/finalizers.ts';
export {
  apiVersionOf,
  defineResource,
  isOlderResourceVersion,
  keyOf,
  type KubeObject,
  type Live,
  nameOf,
  type ObjectMeta,
  type ObjectName,
  type OwnerReference,
  type Resource,
} from './objects/object.ts';
export { deleteIfUnchanged, patchIfUnchanged } from './objects/optimistic-lock.ts';
export { controllerReference, getControllerOf, isOwnedBy, withOwnerReference } from './objects/owners.ts';
export { patchStatus, type WithStatus } from './objects/status.ts';

// Informers.
export { createInformer, type InformerOptions, withoutManagedFields } from './informer/create-informer.ts';
export type { InformerEvent, Informer } from './informer/informer.ts';

// Work queue and controllers.
export { createLruCache, type LruCache } from './lru-cache.ts';
export { createSemaphore } from './semaphore.ts';
export { backoffMs, createTokenBucket } from './workqueue/rate-limiter.ts';
export { type Controller, type ControllerOptions, createController } from './controller/controller.ts';
export { untilAborted } from './errors/abort-signal.ts';
export {
  annotationsChanged,
  anyOf,
  fromInformer,
  generationChanged,
  labelsChanged,
  type Predicate,
  requestForObject,
  requestForOwner,
  type Source,
} from './controller/source.ts';
export { createManager, type Manager, type ManagerResult } from './controller/manager.ts';
export {
  assembleManager,
  type ManagerDeps,
  type ManagerProgram,
  runManagerProgram,
} from './controller/manager-program.ts';
export { requeueAfter, type ReconcileResult, type Reconciler, done } from './controller/reconcile.ts';
export { requeueOnConflict } from './controller/requeue-on-conflict.ts';

// Leader election.
export { type Gate, NotLeadingError } from './leader/gate.ts';

// RBAC.
export {
  bindClusterRole,
  type ExplainedRule,
  grantPolicyRules,
  type NonResourceRule,
  type PolicyRule,
  policyRule,
  type PolicyRules,
  withoutReason,
  withoutReasons,
} from './objects/rbac.ts';

// A program.
export { exitCodes, type ProcessContext, runAsProcess } from './program.ts';

// What operators and users see.
export { createEventRecorder, type EventRecorder } from './events/recorder.ts';
export type { EventInput } from './events/event.ts';
export { createLogger, type Fields, type Logger } from './logs/logger.ts';
export { createRedactor, createSecret, type Redactor, type Secret } from './logs/redaction.ts';
export {
  createMetrics,
  createScrapeGauges,
  describeMetrics,
  type MetricDescription,
  type Metrics,
  type ScrapeGauge,
  withRequestMetrics,
} from './metrics/metrics.ts';
export { listen } from './health/listen.ts';
