import {
  requeueAfter,
  type Controller,
  createController,
  fromInformer,
  requestForObject,
  keyOf,
  requestForOwner,
  nameOf,
  type ReconcileResult,
  patchStatus,
  done,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, PassOptions } from '../context.ts';
import { refersTo } from '../contract/externals.ts';
import { type MachineDeployment, machineDeployments } from '../kinds.ts';
import { ownTemplate } from '../machine-set/act.ts';
import { labels } from '../names.ts';
import { lookingAgain } from '../writing/reconcile.ts';
import { act, settleDeployment } from './act.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { pausedStatus, statusOf } from './status.ts';

/** Replaces Machines of one template by those of another, as slowly as it is told to. */
export const createMachineDeploymentController = (context: Context): Controller => {
  const { client, caches, externals, clock, log } = context;

  const reconcile = async (key: string, options: PassOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    const { live, snapshot: first } = seen;
    if (pausedCondition(first.cluster, 'MachineDeployment', live).status === 'True') {
      await patchStatus(client, machineDeployments, live, pausedStatus(first), options);
      return done;
    }
    const snapshot = { ...first, deployment: await settleDeployment(context, live, first, options) };
    await ownTemplate(context, snapshot, options);
    const decision = decide(snapshot);
    log.debug('Looked at a MachineDeployment', { key, decision });
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
    reconcile: lookingAgain((key, signal) => reconcile(key, { signal })),
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
