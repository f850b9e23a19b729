import {
  annotations,
  goldenLabelOf,
  guestNames,
  labels,
  labelValues,
  macTaint,
  type RunnerPool,
  runnerPool,
  runnerVariables,
  secretKeys,
  secretNames,
} from '@tartan/api';
import {
  controllerReference,
  type Live,
  type ObjectMeta,
  type OwnerReference,
  pods,
  type Secret as Hidden,
  type secrets,
} from '@tartan/kube';
import type { Pod, ServiceAccount } from './snapshot.ts';

const suffixBytes = 4;

/** Unique and unguessable. It fits GitHub's limit of 64 characters, because names of pools have at most 47. */
export const newRunnerName = (pool: string, randomBytes: (count: number) => Uint8Array): string =>
  `${pool}-runner-${Buffer.from(randomBytes(suffixBytes)).toString('hex')}`;

/** Excludes runners of a pool `<pool>-runner-x`. */
export const isRunnerNameOf = (pool: string, name: string): boolean =>
  name.startsWith(`${pool}-runner-`) && /^[0-9a-f]{8}$/.test(name.slice(pool.length + '-runner-'.length));

type Secret = NonNullable<(typeof secrets)['ofType']>;

/** The objects of a runner: a ServiceAccount and a Pod of one name, and the Secret that the Pod waits for. */

export const accountOf = (pool: Live<RunnerPool>, name: string): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metadataOf(pool, name),
  automountServiceAccountToken: false,
});

export const podOf = (pool: Live<RunnerPool>, name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadataOf(pool, name),
  spec: {
    restartPolicy: 'Never',
    serviceAccountName: name,
    automountServiceAccountToken: false,
    nodeSelector: {
      [labels.os]: labelValues.os,
      [labels.runtime]: labelValues.runtime,
      [labels.fleet]: pool.spec.fleetSelector,
    },
    tolerations: [{ key: macTaint.key, operator: 'Exists', effect: macTaint.effect }],
    ...preferring(goldenLabelOf(pool.spec.image)),
    containers: [
      {
        name: containerName,
        image: pool.spec.image,
        env: variablesOf(pool, name),
        resources: resourcesOf(pool),
        volumeMounts: [{ name: guestNames.shares.runner, mountPath: `/${guestNames.shares.runner}`, readOnly: true }],
      },
    ],
    volumes: [
      {
        name: guestNames.shares.runner,
        projected: {
          sources: [
            {
              secret: {
                name: secretNames.runner(name),
                items: [{ key: secretKeys.runner.jitConfig, path: guestNames.jitConfig }],
              },
            },
          ],
        },
      },
    ],
  },
});

/** Owned by its Pod, so garbage collection deletes it with the Pod. */
export const secretOf = (pod: Live<Pod>, runnerID: number, jitConfig: Hidden): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: secretNames.runner(pod.metadata.name),
    namespace: pod.metadata.namespace ?? '',
    labels: { ...pod.metadata.labels },
    annotations: { [annotations.runnerID]: String(runnerID) },
    ownerReferences: [notBlocking(controllerReference(pod, pods))],
  },
  type: 'Opaque',
  data: { [secretKeys.runner.jitConfig]: Buffer.from(jitConfig.reveal()).toString('base64') },
});

export const containerName = 'runner';

const metadataOf = (pool: Live<RunnerPool>, name: string): ObjectMeta => ({
  name,
  namespace: pool.metadata.namespace ?? '',
  labels: { [labels.runner]: 'true', [labels.runnerPool]: pool.metadata.name },
  ownerReferences: [notBlocking(controllerReference(pool, runnerPool.resource))],
});

/**
 * A deletion of the pool with `--cascade=foreground` deletes blocking dependents first, including Pods with a job. Other dependents stay
 * until the pool itself is gone, which waits for our finalizer.
 */
const notBlocking = (reference: OwnerReference): OwnerReference => ({ ...reference, blockOwnerDeletion: false });

/** Limits equal requests: a virtual machine takes all of its memory at once. */
const resourcesOf = ({ spec: { podCPUMilli, podMemoryMB } }: RunnerPool) => {
  const wanted = { cpu: `${podCPUMilli}m`, memory: `${podMemoryMB}Mi` };
  return { requests: wanted, limits: wanted };
};

const variablesOf = ({ metadata, spec: { idleTimeoutSeconds } }: Live<RunnerPool>, name: string) => [
  { name: runnerVariables.pool, value: metadata.name },
  { name: runnerVariables.podName, value: name },
  { name: runnerVariables.podUID, valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
  { name: runnerVariables.printLog, value: '1' },
  ...(idleTimeoutSeconds > 0 ? [{ name: runnerVariables.idleTimeoutSeconds, value: String(idleTimeoutSeconds) }] : []),
];

/** Preferred, not required: another free Mac is better than waiting for the preferred one. */
const preferring = (label: string | undefined): Pick<NonNullable<Pod['spec']>, 'affinity'> => {
  if (label === undefined) return {};
  const preference = { matchExpressions: [{ key: label, operator: 'Exists' as const }] };
  return {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] } },
  };
};
