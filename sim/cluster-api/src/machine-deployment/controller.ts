import {
  type Controller,
  createController,
  done,
  fromInformer,
  getControllerOf,
  keyOf,
  type Live,
  nameOf,
  patchStatus,
  type ReconcileResult,
  requestForObject,
  requestForOwner,
  requeueAfter,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, ReconcileOptions } from '../context.ts';
import { refersTo } from '../external/object-tracker.ts';
import {
  clusters,
  type MachineDeployment,
  machineDeployments,
  machines,
  type MachineSet,
  machineSets,
  type RollingUpdate,
} from '../kinds.ts';
import { ownTemplate } from '../machine-set/actions.ts';
import { annotations, finalizers, labels, randomSuffix } from '../names.ts';
import { ownerReference, withOwner } from '../owner-references.ts';
import { ignoreNotFound, patchIfChanged, requeueOnConflict, withFinalizer, withoutFinalizer } from '../writes.ts';
import { desiredMachineSet, findMachineSets, machineSetPatch, nextRevision, revisionOf } from './machine-sets.ts';
import { decide, type Decision, machineSetsToCleanUp, type Snapshot } from './rollout.ts';
import { pausedStatus, statusOf } from './status.ts';

/** The defaults of core's webhook for a new MachineDeployment. There is no webhook here, so the controller sets them. */
const withDefaults = ({ metadata, spec = {} }: MachineDeployment): NonNullable<MachineDeployment['spec']> => {
  const byName = { [labels.deploymentName]: metadata?.name ?? '' };
  const byCluster = { [labels.clusterName]: spec.clusterName ?? '' };
  const type = spec.rollout?.strategy?.type ?? 'RollingUpdate';
  const rollingUpdate: RollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...spec.rollout?.strategy?.rollingUpdate };
  return {
    replicas: 1,
    ...spec,
    selector: {
      ...spec.selector,
      // Without a selector it gets a unique one.
      matchLabels: { ...(spec.selector ? {} : byName), ...spec.selector?.matchLabels, ...byCluster },
    },
    template: {
      ...spec.template,
      metadata: {
        ...spec.template?.metadata,
        labels: { ...spec.template?.metadata?.labels, ...byName, ...byCluster },
      },
      spec: { ...spec.template?.spec, clusterName: spec.clusterName ?? '' },
    },
    rollout: {
      ...spec.rollout,
      strategy: { type, ...(type === 'RollingUpdate' && { rollingUpdate }) },
    },
  };
};

/** The objects, with core's defaults. Undefined: the MachineDeployment is gone, or its Cluster does not exist. */
const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: ReconcileOptions,
): Promise<{ live: Live<MachineDeployment>; snapshot: Snapshot } | undefined> => {
  const { namespace } = name;
  const live = await ignoreNotFound(client.get(machineDeployments, name, options));
  if (!live) return undefined;
  const cluster = await ignoreNotFound(
    client.get(clusters, { namespace, name: live.spec?.clusterName || '-' }, options),
  );
  if (!cluster) return undefined;
  const deployment = { ...live, spec: withDefaults(live) };
  const labelSelector = `${labels.deploymentName}=${name.name}`;
  const [sets, theirs] = await Promise.all([
    client.list(machineSets, { namespace, labelSelector, ...options }),
    client.list(machines, { namespace, labelSelector, ...options }),
  ]);
  const own = sets.items.filter((set) => getControllerOf(set)?.uid === live.metadata.uid);
  const uids = new Set(own.map(({ metadata }) => metadata.uid));
  const ref = deployment.spec.template?.spec?.infrastructureRef;
  const now = clock.now();
  return {
    live,
    snapshot: {
      deployment,
      cluster,
      sets: findMachineSets(deployment, own, now),
      machines: theirs.items.filter((machine) => uids.has(getControllerOf(machine)?.uid ?? '')),
      template: ref && (await externals.read(namespace, ref, options)),
      now,
    },
  };
};

/** Writes the finalizer, the Cluster as owner, and core's defaults, so that users see them. */
const ensureDeploymentDefaults = async (
  { client }: Context,
  live: Live<MachineDeployment>,
  { deployment, cluster }: Snapshot,
  options: ReconcileOptions,
): Promise<Live<MachineDeployment>> => {
  if (live.metadata.deletionTimestamp !== undefined) return live;
  const metadata = {
    finalizers: withFinalizer(live, finalizers.machineDeployment),
    labels: { [labels.clusterName]: live.spec?.clusterName ?? '' },
    ownerReferences: withOwner(live, ownerReference('Cluster', cluster)),
  };
  return patchIfChanged(client, machineDeployments, live, { metadata, spec: deployment.spec ?? {} }, options);
};

const deleteMachineSets = async (
  { client }: Context,
  sets: readonly Live<MachineSet>[],
  options: ReconcileOptions,
): Promise<void> => {
  for (const { metadata } of sets) {
    const { namespace = '', name, uid } = metadata;
    await ignoreNotFound(client.delete(machineSets, { namespace, name }, { ...options, preconditions: { uid } }));
  }
};

const scaleMachineSets = async (
  { client, random }: Context,
  { deployment, sets }: Snapshot,
  decision: Extract<Decision, { kind: 'scale' }>,
  options: ReconcileOptions,
): Promise<void> => {
  const { current, old } = sets;
  const revision = nextRevision(current, old);
  // The new one first: a crash in between has not yet removed anything.
  if (current)
    await patchIfChanged(
      client,
      machineSets,
      current,
      machineSetPatch(deployment, current, { replicas: decision.current ?? 0, revision, isOld: false }),
      options,
    );
  else if (decision.makes)
    await client.create(
      machineSets,
      desiredMachineSet(deployment, { suffix: randomSuffix(random), replicas: decision.current ?? 0, revision }),
      options,
    );
  if (current || decision.makes)
    await patchIfChanged(
      client,
      machineDeployments,
      deployment,
      { metadata: { annotations: { [annotations.revision]: String(revision) } } },
      options,
    );
  for (const [index, set] of old.entries())
    await patchIfChanged(
      client,
      machineSets,
      set,
      machineSetPatch(deployment, set, { replicas: decision.old[index] ?? 0, revision: revisionOf(set), isOld: true }),
      options,
    );
};

const act = async (
  context: Context,
  snapshot: Snapshot,
  decision: Decision,
  options: ReconcileOptions,
): Promise<void> => {
  const { client } = context;
  switch (decision.kind) {
    case 'waitForTemplate':
      return;
    case 'scale':
      await scaleMachineSets(context, snapshot, decision, options);
      return deleteMachineSets(context, machineSetsToCleanUp(snapshot), options);
    case 'delete':
      return deleteMachineSets(context, decision.sets, options);
    case 'finish': {
      const metadata = { finalizers: withoutFinalizer(snapshot.deployment, finalizers.machineDeployment) };
      await ignoreNotFound(patchIfChanged(client, machineDeployments, snapshot.deployment, { metadata }, options));
    }
  }
};

/** Replaces Machines of one template by those of another, within the limits of the strategy. */
export const createMachineDeploymentController = (context: Context): Controller => {
  const { client, caches, externals, clock, log } = context;

  const reconcile = async (key: string, options: ReconcileOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    const { live, snapshot: first } = seen;
    if (pausedCondition(first.cluster, 'MachineDeployment', live).status === 'True') {
      await patchStatus(client, machineDeployments, live, pausedStatus(first), options);
      return done;
    }
    const snapshot = { ...first, deployment: await ensureDeploymentDefaults(context, live, first, options) };
    await ownTemplate(context, snapshot, options);
    const decision = decide(snapshot);
    log.debug('Reconciled MachineDeployment', { key, decision });
    const deployment = await patchStatus(client, machineDeployments, snapshot.deployment, statusOf(snapshot), options);
    await act(context, { ...snapshot, deployment }, decision, options);
    return decision.kind === 'waitForTemplate' ? requeueAfter(context.intervals.externalRetryMs) : done;
  };

  const keysOf = (namespace: string | undefined, holds: (deployment: MachineDeployment) => boolean): string[] =>
    caches.machineDeployments
      .list()
      .filter((deployment) => deployment.metadata.namespace === namespace && holds(deployment))
      .map(({ metadata }) => keyOf(metadata));

  return createController({
    name: 'machinedeployment',
    reconcile: requeueOnConflict((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.machineDeployments, requestForObject),
      fromInformer(caches.machineSets, requestForOwner(machineDeployments)),
      fromInformer(caches.machines, ({ metadata }) => {
        const { namespace } = metadata;
        const name = metadata.labels?.[labels.deploymentName];
        return name === undefined ? [] : [keyOf({ name, ...(namespace !== undefined && { namespace }) })];
      }),
      fromInformer(caches.clusters, ({ metadata }) =>
        keysOf(metadata.namespace, ({ spec }) => spec?.clusterName === metadata.name),
      ),
      externals.source((object) =>
        keysOf(object.metadata.namespace, ({ spec }) => refersTo(spec?.template?.spec?.infrastructureRef, object)),
      ),
    ],
    clock,
    log,
    workers: 2,
  });
};
