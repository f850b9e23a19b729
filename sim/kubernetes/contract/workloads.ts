import { systemClock, timestamp } from '@tartan/kube/clock';
import type { KubeObject } from '../src/object.ts';
import { itemsIn } from './cluster.ts';
import { readyForPods } from './pods.ts';
import { read, readKey, readList } from './read.ts';
import type { Trial } from './trial.ts';

/** What behaviours of Deployments and ReplicaSets share. */

/** Nobody schedules its Pods: the behaviours say themselves what becomes of them. */
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

export const workloadPaths = async (trial: Trial): Promise<Paths> => ({
  pods: await readyForPods(trial),
  deployments: await trial.collection('deployments', 'apps/v1'),
  sets: await trial.collection('replicasets', 'apps/v1'),
});

export const listed = async (trial: Trial, path: string): Promise<KubeObject[]> => itemsIn(await trial.get(path));

export const isReady = (pod: unknown): boolean =>
  readList(pod, 'status.conditions').some((each) => read(each, 'type') === 'Ready' && read(each, 'status') === 'True');

/** What a kubelet would say of a Pod that runs. */
export const makeReady = (trial: Trial, pods: string, name: string): Promise<unknown> => {
  const lastTransitionTime = timestamp(systemClock.now());
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  return trial.patch(`${pods}/${name}/status`, 'strategic', { status: { phase: 'Running', conditions } });
};

/** Lets every Pod become ready as soon as it is there, and end as soon as it may. Ends with the trial. */
export const playKubelet = async (trial: Trial, pods: string): Promise<void> => {
  const events = await trial.watch(pods);
  const run = async (): Promise<void> => {
    for (;;) {
      const { type, object } = await events.next();
      if (type === 'DELETED') continue;
      const { name, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined) await trial.delete(`${pods}/${name}?gracePeriodSeconds=0`);
      else if (!isReady(object) && read(object, 'status.phase') === 'Pending') await makeReady(trial, pods, name);
    }
  };
  run().catch(() => undefined);
};

export const conditionOf = (object: unknown, type: string): unknown =>
  readList(object, 'status.conditions').find((each) => read(each, 'type') === type);

/** So many Pods that nobody is ending. */
export const podsWhen = (
  trial: Trial,
  pods: string,
  wanted: (living: KubeObject[]) => boolean,
): Promise<KubeObject[]> =>
  trial.eventually('the Pods are as expected', async () => {
    const living = (await listed(trial, pods)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return wanted(living) ? living : undefined;
  });

/** All of its Pods are of the current template, and available. */
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

/** `mac:1 2, mac:2 1`: how many each template has. */
export const sizes = (sets: KubeObject[]): string =>
  sets
    .map((set) => `${String(imageOf(set))} ${String(read(set, 'spec.replicas'))}`)
    .sort()
    .join(', ');

export const setsWhen = (trial: Trial, sets: string, wanted: (all: KubeObject[]) => boolean): Promise<KubeObject[]> =>
  trial.eventually('the ReplicaSets are as expected', async () => {
    const all = await listed(trial, sets);
    return wanted(all) ? all : undefined;
  });

export const rolled = (trial: Trial, path: string): Promise<KubeObject | undefined> => trial.waitFor(path, isDone);
