/** A controller runtime: a client, informers, work queues, controllers and leader election. */

// API server.
export { type ClusterConfig } from './config/cluster-config.ts';
export { parseYaml } from './config/config-file.ts';
export { loadConfig } from './config/load-config.ts';
export { httpsTransport } from './transport/https-transport.ts';
export { inProcessTransport } from './transport/in-process-transport.ts';
export { formatPath, parseJson } from './json.ts';
export { fetchText, type FetchTextOptions } from './transport/fetch-text.ts';
export * from './transport/transport.ts';
export * from './client/client.ts';
export { createClient } from './client/create-client.ts';
export { createRequestLimiter } from './client/request-limiter.ts';
export { createRestClient } from './client/rest-client.ts';
export * from './client/subresources.ts';
export * from './errors/kube-error.ts';

// Objects.
export * from './objects/builtin.ts';
export * from './objects/conditions.ts';
export * from './objects/finalizers.ts';
export * from './objects/object.ts';
export * from './objects/optimistic-lock.ts';
export * from './objects/owners.ts';
export * from './objects/rbac.ts';
export * from './objects/status.ts';

// Informers.
export * from './informer/create-informer.ts';
export * from './informer/informer.ts';

// Work queue and controllers.
export * from './lru-cache.ts';
export * from './semaphore.ts';
export * from './shared-reads.ts';
export { backoffMs, type BackoffOptions, createTokenBucket } from './workqueue/rate-limiter.ts';
export * from './controller/controller.ts';
export { untilAborted } from './errors/abort-signal.ts';
export * from './controller/source.ts';
export * from './controller/manager.ts';
export * from './controller/manager-program.ts';
export { requeueAfter, type ReconcileResult, type Reconciler, done } from './controller/reconcile.ts';
export * from './controller/requeue-on-conflict.ts';

// Leader election.
export { type Gate, NotLeadingError } from './leader/gate.ts';

// A program.
export * from './program.ts';

// Events, logs and metrics.
export * from './events/recorder.ts';
export type { EventInput } from './events/event.ts';
export { createLogger, type Fields, type Logger } from './logs/logger.ts';
export { createRedactor, createSecret, type Redactor, type Secret } from './logs/redaction.ts';
export * from './metrics/metrics.ts';
export { Counter, Gauge, Histogram, type Registry } from './metrics/prometheus.ts';
export { listen } from './health/listen.ts';
