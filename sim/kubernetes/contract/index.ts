import type { Behaviour } from './behaviour.ts';
import { authentication } from './behaviours/authentication.ts';
import { badInput } from './behaviours/bad-input.ts';
import { binding, podUpdates, pods } from './behaviours/pods.ts';
import { certificates } from './behaviours/certificates.ts';
import { conflict, preconditions } from './behaviours/conflict.ts';
import { crdLifecycle } from './behaviours/crd-lifecycle.ts';
import { crdSchema, crdValidation } from './behaviours/crd-schema.ts';
import { crdSubresources } from './behaviours/crd-subresources.ts';
import { create, names } from './behaviours/create.ts';
import { deletion, finalizers, grace } from './behaviours/deletion.ts';
import { deployments } from './behaviours/deployments.ts';
import { discovery } from './behaviours/discovery.ts';
import { dryRun, fieldValidation } from './behaviours/write-options.ts';
import { events } from './behaviours/events.ts';
import { eviction } from './behaviours/eviction.ts';
import { garbageCollection } from './behaviours/garbage-collection.ts';
import { generation, statusSplit } from './behaviours/status.ts';
import { leases } from './behaviours/leases.ts';
import { list, pagination, selectors } from './behaviours/list.ts';
import { namespaces } from './behaviours/namespaces.ts';
import { nodesTopic } from './behaviours/nodes.ts';
import { partialMetadata } from './behaviours/partial-metadata.ts';
import { jsonPatch, mergePatch, strategicPatch } from './behaviours/patches.ts';
import { restartable, restart } from './behaviours/restart.ts';
import { replicaSets } from './behaviours/replica-sets.ts';
import { resourceVersions } from './behaviours/resource-versions.ts';
import { accessReviews } from './behaviours/access-reviews.ts';
import { escalation } from './behaviours/escalation.ts';
import { impersonation } from './behaviours/impersonation.ts';
import { nodeRights } from './behaviours/node-rights.ts';
import { roles } from './behaviours/roles.ts';
import { rollouts } from './behaviours/rollouts.ts';
import { scheduler } from './behaviours/scheduler.ts';
import { serviceAccounts } from './behaviours/service-accounts.ts';
import { tables } from './behaviours/tables.ts';
import { update } from './behaviours/update.ts';
import { watch, watchOptions } from './behaviours/watch.ts';
import type { ClusterUnderTest, RestartableCluster } from './cluster.ts';
import { registerContract } from './run.ts';

/** The behaviour of a Kubernetes control plane that this project relies on. */
export const behaviours: readonly Behaviour[] = [
  ...discovery,
  ...tables,
  ...partialMetadata,
  ...create,
  ...names,
  ...update,
  ...statusSplit,
  ...generation,
  ...conflict,
  ...deletion,
  ...finalizers,
  ...grace,
  ...preconditions,
  ...garbageCollection,
  ...jsonPatch,
  ...mergePatch,
  ...strategicPatch,
  ...list,
  ...pagination,
  ...selectors,
  ...resourceVersions,
  ...watch,
  ...watchOptions,
  ...fieldValidation,
  ...badInput,
  ...dryRun,
  ...crdLifecycle,
  ...crdSchema,
  ...crdValidation,
  ...crdSubresources,
  ...events,
  ...leases,
  ...pods,
  ...podUpdates,
  ...binding,
  ...eviction,
  ...nodesTopic,
  ...namespaces,
  ...serviceAccounts,
  ...authentication,
  ...certificates,
  ...roles,
  ...accessReviews,
  ...escalation,
  ...impersonation,
  ...nodeRights,
  ...scheduler,
  ...replicaSets,
  ...deployments,
  ...rollouts,
];

export interface ContractOptions {
  title: string;
  isReal?: boolean;
}

/** Registers one test per behaviour, against one cluster. */
export const runContract = (
  makeCluster: () => Promise<ClusterUnderTest>,
  { title, isReal = false }: ContractOptions,
): void =>
  registerContract(
    title,
    behaviours.filter(({ onlyReal = false }) => isReal || !onlyReal),
    makeCluster,
  );

/** What survives a crash of the server. These run one at a time, since a restart affects all of them. */
export const restartBehaviours: readonly Behaviour[] = restart;

export const runRestartContract = (makeCluster: () => Promise<RestartableCluster>, { title }: ContractOptions): void =>
  registerContract(title, restartBehaviours, async () => restartable(await makeCluster()), 1);

export type { Behaviour } from './behaviour.ts';
export type { Answer, Call, Caller, ClusterUnderTest, EventStream, RestartableCluster, WatchEvent } from './cluster.ts';
export { type Coordinates, httpsCluster } from './https-cluster.ts';
export { inProcessCluster } from './in-process-cluster.ts';
