import { systemClock, timestamp } from '@tartan/kube/clock';
import type { KubeObject } from '../src/object.ts';
import { itemsIn } from './cluster.ts';
import { readyForPods } from './pods.ts';
import { read, readKey, readList } from './read.ts';
import type { BehaviourContext } from './behaviour-context.ts';

/** Shared by the behaviours of Deployments and ReplicaSets. */

/** Its Pods are not scheduled: the behaviours write their status themselves. */
export const template = (spec: Record<string, unknown> = {}): Record<string, unknown> => ({
  metadata: { labels: { app: 'demo' } },
  spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'mac:1' }], ...spec },
});

const workload =
  (kind: string) =>
  (name: string, spec: Record<string, unknown> = {}): Record<string, unknown> => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: 'demo' } }, template: template(), ...spec },
  });

export const deployment = workload('Deployment');
export const replicaSet = workload('ReplicaSet');

export interface Paths {
  deployments: string;
  sets: string;
  pods: string;
}

export const workloadPaths = async (context: BehaviourContext): Promise<Paths> => ({
  pods: await readyForPods(context),
  deployments: await context.collection('deployments', 'apps/v1'),
  sets: await context.collection('replicasets', 'apps/v1'),
});

export const listObjects = async (context: BehaviourContext, path: string): Promise<KubeObject[]> =>
  itemsIn(await context.get(path));

export const isReady = (pod: unknown): boolean =>
  readList(pod, 'status.conditions').some((each) => read(each, 'type') === 'Ready' && read(each, 'status') === 'True');

/** The status that a kubelet would write for a running Pod. */
export const makeReady = (context: BehaviourContext, pods: string, name: string): Promise<unknown> => {
  const lastTransitionTime = timestamp(systemClock.now());
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  return context.patch(`${pods}/${name}/status`, 'strategic', { status: { phase: 'Running', conditions } });
};

/** A fake kubelet: makes every new Pod ready, and removes Pods that are being deleted. Ends with the context. */
export const runFakeKubelet = async (context: BehaviourContext, pods: string): Promise<void> => {
  const events = await context.watch(pods);
  const run = async (): Promise<void> => {
    for (;;) {
      const { type, object } = await events.next();
      if (type === 'DELETED') continue;
      const { name, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined) await context.delete(`${pods}/${name}?gracePeriodSeconds=0`);
      else if (!isReady(object) && read(object, 'status.phase') === 'Pending') await makeReady(context, pods, name);
    }
  };
  run().catch(() => undefined);
};

export const conditionOf = (object: unknown, type: string): unknown =>
  readList(object, 'status.conditions').find((each) => read(each, 'type') === type);

/** Waits for so many Pods that are not being deleted. */
export const waitForPods = (
  context: BehaviourContext,
  pods: string,
  wanted: (living: KubeObject[]) => boolean,
): Promise<KubeObject[]> =>
  context.eventually('the Pods are as expected', async () => {
    const living = (await listObjects(context, pods)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    return wanted(living) ? living : undefined;
  });

/** All Pods have the current template and are available. */
export const isDone = (object: KubeObject | undefined): boolean => {
  const wanted = read(object, 'spec.replicas');
  return (
    read(object, 'status.observedGeneration') === object?.metadata.generation &&
    ['replicas', 'updatedReplicas', 'availableReplicas'].every((field) => read(object, `status.${field}`) === wanted)
  );
};

export const revision = (object: unknown): unknown =>
  readKey(read(object, 'metadata.annotations'), 'deployment.kubernetes.io/revision');

export const image = (name: string): Record<string, unknown> => ({
  spec: { template: { spec: { containers: [{ name: 'main', image: name }] } } },
});

export const imageOf = (object: unknown): unknown => read(object, 'spec.template.spec.containers.0.image');

/** `mac:1 2, mac:2 1`: the number of replicas of each template. */
export const sizes = (sets: KubeObject[]): string =>
  sets
    .map((set) => `${String(imageOf(set))} ${String(read(set, 'spec.replicas'))}`)
    .sort()
    .join(', ');

export const waitForReplicaSets = (
  context: BehaviourContext,
  sets: string,
  wanted: (all: KubeObject[]) => boolean,
): Promise<KubeObject[]> =>
  context.eventually('the ReplicaSets are as expected', async () => {
    const all = await listObjects(context, sets);
    return wanted(all) ? all : undefined;
  });

export const waitForRollout = (context: BehaviourContext, path: string): Promise<KubeObject | undefined> =>
  context.waitFor(path, isDone);
