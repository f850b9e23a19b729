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

/** Unique and unguessable. GitHub takes 64 characters and pools have at most 47, so that it fits both. */
export const newRunnerName = (pool: string, randomBytes: (count: number) => Uint8Array): string =>
  `${pool}-runner-${Buffer.from(randomBytes(suffixBytes)).toString('hex')}`;

/** Not those of the pool `<pool>-runner-x`. */
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

/** It goes with its Pod. */
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
 * A deletion of the pool with `--cascade=foreground` would take at once what blocks it, Pods with a job among them. What does not block
 * is left until the pool itself is gone, and that waits for our finalizer.
 */
const notBlocking = (reference: OwnerReference): OwnerReference => ({ ...reference, blockOwnerDeletion: false });

/** As much as is asked for, and no more: a virtual machine takes all of it at once. */
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

/** Preferred, not required: another free Mac is better than waiting for the best one. */
const preferring = (label: string | undefined): Pick<NonNullable<Pod['spec']>, 'affinity'> => {
  if (label === undefined) return {};
  const preference = { matchExpressions: [{ key: label, operator: 'Exists' as const }] };
  return {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] } },
  };
};
