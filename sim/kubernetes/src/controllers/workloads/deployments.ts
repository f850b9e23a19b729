import { controllerManager } from '../../authentication/user.ts';
import { ApiError } from '../../errors/api-error.ts';
import { copy, equal, type KubeObject } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import { labelSelectorMatches } from '../../selectors/label-selector.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { eventRecorder, type Recorder, referenceTo } from '../runtime/event-recorder.ts';
import { asPod, isFinished, isTerminating, keyOf, newObject, splitKey } from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { claim, controllerOf, controllerRef } from './controller-ref.ts';
import { deploymentStatus, isComplete, type NewSetOutcome, progressing, untilTimedOut } from './deployment-status.ts';
import { asDeployment, asReplicaSet, byAge, type Deployment, hashLabel, type ReplicaSet } from './objects.ts';
import {
  countsOf,
  currentAnnotations,
  nextRevision,
  revisionAnnotation,
  revisionsToDelete,
  sameTemplate,
  templateHash,
  withCounts,
} from './revisions.ts';
import { decideRollout, type RolloutFacts, rolloutLimits, type RolloutStep, type SetFacts } from './rollout.ts';

interface Kinds {
  deployments: Resource;
  replicaSets: Resource;
  pods: Resource;
}

interface Sets {
  /** With the current template. */
  current: ReplicaSet | undefined;
  /** Oldest first. */
  old: ReplicaSet[];
}

interface ReconcileContext extends Kinds {
  api: LoopbackClient;
  recorder: Recorder;
  deployment: Deployment;
}

const setsOf = ({ api, replicaSets, deployment }: ReconcileContext): Sets => {
  const all = claim(api, replicaSets, deployment)
    .flatMap((object) => asReplicaSet(object) ?? [])
    .sort(byAge);
  const current = all.find(({ spec }) => sameTemplate(spec.template, deployment.spec.template));
  return { current, old: all.filter((set) => set !== current) };
};

const factsOf = (set: ReplicaSet): SetFacts => ({
  name: set.metadata.name,
  replicas: set.spec.replicas,
  available: set.status.availableReplicas ?? 0,
  ...countsOf(set),
});

const rolloutFacts = ({ api, pods, deployment }: ReconcileContext, { current, old }: Sets): RolloutFacts => {
  const { spec, metadata } = deployment;
  const uids = new Set(old.map((set) => set.metadata.uid));
  const oldPodsRun = api
    .list(pods, metadata.namespace ?? '')
    .some((pod) => uids.has(controllerOf(pod)?.uid ?? '') && !isFinished(asPod(pod)));
  return {
    replicas: spec.replicas,
    recreate: spec.strategy.type === 'Recreate',
    paused: spec.paused === true,
    limits: rolloutLimits(spec),
    current: current && factsOf(current),
    old: old.map(factsOf),
    oldPodsRun,
  };
};

const scaledMessage = (name: string, before: number, after: number): string =>
  `Scaled ${before < after ? 'up' : 'down'} replica set ${name} from ${before} to ${after}`;

const recordScaling = ({ recorder, deployment }: ReconcileContext, message: string): void =>
  recorder.record({ regarding: referenceTo(deployment), type: 'Normal', reason: 'ScalingReplicaSet', message });

const scaleReplicaSet = (pass: ReconcileContext, set: ReplicaSet, replicas: number): void => {
  const { api, replicaSets, deployment } = pass;
  const next = copy(set);
  next.metadata.annotations = withCounts(
    set.metadata.annotations,
    deployment.spec.replicas,
    rolloutLimits(deployment.spec),
  );
  next.spec.replicas = replicas;
  api.update(replicaSets, set.metadata.namespace ?? '', next, controllerManager);
  if (set.spec.replicas !== replicas)
    recordScaling(pass, scaledMessage(set.metadata.name, set.spec.replicas, replicas));
};

const newSet = ({ deployment }: ReconcileContext, replicas: number, revision: number): KubeObject => {
  const { spec, metadata, status } = deployment;
  const hash = templateHash(spec.template, status.collisionCount ?? 0);
  const template = copy(spec.template);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const selector = copy(spec.selector);
  return newObject(
    'apps/v1',
    'ReplicaSet',
    {
      name: `${metadata.name}-${hash}`,
      labels,
      annotations: withCounts(currentAnnotations(deployment, undefined, revision), spec.replicas, rolloutLimits(spec)),
      ownerReferences: [controllerRef(deployment)],
    },
    {
      spec: {
        replicas,
        ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    },
  );
};

/** Another ReplicaSet has that name: the next pass uses another hash. */
const countCollision = ({ api, deployments, deployment }: ReconcileContext): void => {
  const next = copy(deployment);
  next.status.collisionCount = (deployment.status.collisionCount ?? 0) + 1;
  api.updateStatus(deployments, deployment.metadata.namespace ?? '', next, controllerManager);
};

const createSet = (pass: ReconcileContext, replicas: number, old: readonly ReplicaSet[]): void => {
  const { api, replicaSets, deployment } = pass;
  const set = newSet(pass, replicas, nextRevision(old));
  try {
    api.create(replicaSets, deployment.metadata.namespace ?? '', set, controllerManager);
  } catch (error) {
    if (error instanceof ApiError && error.status.reason === 'AlreadyExists') countCollision(pass);
    throw error;
  }
  if (replicas > 0) recordScaling(pass, scaledMessage(set.metadata.name, 0, replicas));
};

const applyStep = (pass: ReconcileContext, { current, old }: Sets, step: RolloutStep): NewSetOutcome => {
  switch (step.kind) {
    case 'none':
      return undefined;
    case 'create':
      createSet(pass, step.replicas, old);
      return 'created';
    case 'scale':
      for (const set of [...(current ? [current] : []), ...old]) {
        const size = step.sizes.get(set.metadata.name);
        if (size !== undefined) scaleReplicaSet(pass, set, size);
      }
      return undefined;
  }
};

/** Copies annotations and minReadySeconds of the Deployment to the current ReplicaSet. */
const refreshCurrent = ({ api, replicaSets, deployment }: ReconcileContext, { current, old }: Sets): boolean => {
  if (!current) return false;
  const next = copy(current);
  next.metadata.annotations = currentAnnotations(deployment, current, nextRevision(old));
  if (deployment.spec.minReadySeconds === undefined) delete next.spec.minReadySeconds;
  else next.spec.minReadySeconds = deployment.spec.minReadySeconds;
  if (equal(next, current)) return false;
  api.update(replicaSets, current.metadata.namespace ?? '', next, controllerManager);
  return true;
};

const writeStatus = (pass: ReconcileContext, { current, old }: Sets, note: NewSetOutcome): Deployment['status'] => {
  const { api, deployments, deployment } = pass;
  const status = deploymentStatus(deployment, current, old, note, api.clock.now());
  const next = { ...copy(deployment), status };
  const revision = current?.metadata.annotations?.[revisionAnnotation];
  if (revision !== undefined)
    next.metadata.annotations = { ...next.metadata.annotations, [revisionAnnotation]: revision };
  api.updateStatus(deployments, deployment.metadata.namespace ?? '', next, controllerManager);
  return status;
};

const deleteOldReplicaSets = ({ api, replicaSets, deployment }: ReconcileContext, old: readonly ReplicaSet[]): void => {
  for (const { metadata } of revisionsToDelete(old, deployment.spec.revisionHistoryLimit))
    api.delete(replicaSets, metadata.namespace ?? '', metadata.name, controllerManager);
};

/** One reconcile of one Deployment. Returns when to requeue, in milliseconds. */
const reconcileDeployment = (pass: ReconcileContext): number | undefined => {
  const { api, deployment } = pass;
  const { spec, metadata } = deployment;
  if (isTerminating(deployment)) {
    writeStatus(pass, setsOf(pass), undefined);
    return undefined;
  }
  const sets = setsOf(pass);
  const refreshed = refreshCurrent(pass, sets) ? setsOf(pass) : sets;
  const made = applyStep(pass, refreshed, decideRollout(rolloutFacts(pass, refreshed)));
  const after = setsOf(pass);
  const found = after.current && !progressing(deployment.status) ? 'found' : undefined;
  const status = writeStatus(pass, after, made ?? found);
  if (spec.paused === true || isComplete(spec.replicas, status, metadata.generation ?? 0))
    deleteOldReplicaSets(pass, after.old);
  return untilTimedOut(spec, progressing(status), api.clock.now());
};

/** Rolls the Pods of a Deployment to a new template, a few at a time. */
export const deployments = (onError: OnError): Controller => ({
  name: 'deployment',
  start: (api) => {
    const resource = api.find('apps', 'deployments');
    const replicaSets = api.find('apps', 'replicasets');
    const pods = api.find('', 'pods');
    if (!resource || !replicaSets || !pods) return () => {};
    const recorder = eventRecorder(api, 'deployment-controller');

    const queue = workQueue({
      clock: api.clock,
      onError,
      reconcile: (key) => {
        const { namespace, name } = splitKey(key);
        const deployment = asDeployment(api.get(resource, namespace, name));
        if (!deployment) return;
        const wait = reconcileDeployment({ api, recorder, deployments: resource, replicaSets, pods, deployment });
        if (wait !== undefined && wait > 0) queue.addAfter(key, wait);
      },
    });

    const ownersOf = (set: KubeObject): string[] => {
      const { namespace = '' } = set.metadata;
      const controller = controllerOf(set);
      if (controller) return controller.kind === 'Deployment' ? [`${namespace}/${controller.name}`] : [];
      return api.list(resource, namespace).flatMap((object) => {
        const deployment = asDeployment(object);
        return deployment && labelSelectorMatches(deployment.spec.selector, set.metadata.labels) ? [keyOf(object)] : [];
      });
    };
    const stops = [
      watch(api, 'apps', 'deployments', (current) => current && queue.add(keyOf(current))),
      watch(api, 'apps', 'replicasets', (current, previous) => {
        for (const set of [current, previous]) if (set) for (const key of ownersOf(set)) queue.add(key);
      }),
      // Recreate waits for the last old Pod to end, which changes nothing in its ReplicaSet.
      watch(api, '', 'pods', (current, previous) => {
        const pod = current ?? previous;
        const owner = pod && controllerOf(pod);
        if (owner?.kind !== 'ReplicaSet' || (current && !isFinished(asPod(current)))) return;
        const set = api.get(replicaSets, pod?.metadata.namespace ?? '', owner.name);
        if (set) for (const key of ownersOf(set)) queue.add(key);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      queue.stop();
    };
  },
});
