/** A controller runtime: talk to Kubernetes, keep copies of what is there, work on what changes, one leader at a time. */

// Talking to an API server.
export { type ClusterConfig } from './config/cluster-config.ts';
export { ConfigError } from './config/config-error.ts';
export { type LoadOptions, loadConfig } from './config/load-config.ts';
export { parseYaml } from './config/parse-yaml.ts';
export { type HttpsTransportOptions } from './transport/https-options.ts';
export { httpsTransport } from './transport/https-transport.ts';
export { inProcessTransport } from './transport/in-process-transport.ts';
export { readText } from './transport/read-text.ts';
export type { Transport, TransportRequest, TransportResponse } from './transport/transport.ts';
export type { ClientOptions } from './client/caller.ts';
export type {
  CallOptions,
  Client,
  DeleteOptions,
  List,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/client.ts';
export { createClient } from './client/create-client.ts';
export { createSubresources } from './client/create-subresources.ts';
export type { ExecOptions, ExecOutcome } from './client/exec.ts';
export type { Subresources } from './client/subresources.ts';
export { type Cause, isKubeError, KubeError, type Reason } from './errors/kube-error.ts';

// Objects.
export * from './objects/builtin.ts';
export {
  type Condition,
  type ConditionStatus,
  type ConditionUpdate,
  getCondition,
  isTrue,
  setCondition,
} from './objects/conditions.ts';
export { addFinalizer, type Finalizer, hasFinalizer, removeFinalizer, withFinalizer } from './objects/finalizers.ts';
export {
  type KubeObject,
  keyOf,
  type Live,
  nameOf,
  type ObjectMeta,
  type ObjectName,
  type OwnerReference,
} from './objects/object.ts';
export { controllerReference, getController, isOwnedBy, setOwner } from './objects/owners.ts';
export { apiVersionOf, defineResource, type Resource } from './objects/resource.ts';
export { patchStatus, type WithStatus } from './objects/status.ts';

// Copies of what is there.
export { createWatchCache, type WatchCacheOptions, withoutManagedFields } from './cache/create-watch-cache.ts';
export { isOlder } from './cache/resource-version.ts';
export type { CacheChange, WatchCache } from './cache/watch-cache.ts';

// Work on what changes.
export { createWorkQueue, type WorkQueueOptions } from './queue/create-work-queue.ts';
export type { WorkQueue } from './queue/work-queue.ts';
export type { Controller } from './controller/controller.ts';
export { fired } from './controller/fired.ts';
export { type ControllerOptions, createController } from './controller/create-controller.ts';
export { fromCache, type Matters, type ToKeys } from './controller/from-cache.ts';
export { createManager, type Manager, type ManagerOptions, type ManagerResult } from './controller/manager.ts';
export { annotationsChanged, anyOf, labelsChanged, specChanged } from './controller/matters.ts';
export { again, type Outcome, type Reconcile, settled } from './controller/outcome.ts';
export type { Source } from './controller/source.ts';
export { itsOwnKey, keyOfController } from './controller/to-keys.ts';

// One leader at a time.
export {
  createLeaderElection,
  type Durations,
  type ElectionOptions,
  type Gate,
  type Lead,
  type LeaderElection,
  NotLeadingError,
  openGate,
  usualDurations,
} from './leader/index.ts';

// Who may do what.
export { bindClusterRole, grantRights } from './rights/grant-rights.ts';
export {
  type Explained,
  type PathRight,
  type Right,
  right,
  type Rights,
  withoutReason,
  withoutReasons,
} from './rights/rights.ts';

// A program.
export { exitCodes, type Surroundings } from './program.ts';

// What operators and users see.
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from './events/recorder.ts';
export type { Happening } from './events/happening.ts';
export { createLogger, type LoggerOptions } from './logs/create-logger.ts';
export type { Fields, Logger } from './logs/logger.ts';
export { createRedactor, type Redactor } from './logs/redactor.ts';
export { createSecret, type Secret } from './logs/secret.ts';
export { countingTransport } from './metrics/counting-transport.ts';
export { createMetrics, type Metrics } from './metrics/create-metrics.ts';
export { createHealth, type Health, whileServing } from './metrics/health.ts';
export { type MetricRow, metricRows } from './metrics/metric-rows.ts';
export { listen } from './metrics/listen.ts';
export { createHealthServer, type HealthServer, type HealthServerOptions } from './metrics/serve.ts';
export { type StateGauge, stateGauges } from './metrics/state-gauge.ts';
