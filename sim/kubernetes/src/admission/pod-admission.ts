import { podReferences } from '../authorization/pod-references.ts';
import { type ApiError, forbiddenTo } from '../errors/api-error.ts';
import { copy, isObject, type KubeObject } from '../object.ts';
import type { WriteContext } from '../resource.ts';
import { generateName } from '../store/store.ts';
import { childOf, type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf } from '../unstructured.ts';

/** Where a container finds the token of its service account. */
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
/** An hour and seven seconds: the real server recognises injected tokens by this odd number. */
const expirationSeconds = 3607;

const tokenVolume = (name: string): Fields => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});

/** Mounts the token of the service account into every container that has nothing at that path. `suffix` ends the volume's name. */
const mountToken = (spec: Fields, suffix: () => string): void => {
  const existing = objectsOf(spec['volumes']).find((volume) => textOf(volume['name']).startsWith(volumePrefix));
  const name = existing ? textOf(existing['name']) : `${volumePrefix}${suffix()}`;
  const without = [...objectsOf(spec['initContainers']), ...objectsOf(spec['containers'])].filter(
    (container) => !objectsOf(container['volumeMounts']).some((mount) => mount['mountPath'] === mountPath),
  );
  for (const container of without) {
    container['volumeMounts'] = [...listOf(container['volumeMounts']), { name, readOnly: true, mountPath }];
  }
  if (!existing && without.length > 0) spec['volumes'] = [...listOf(spec['volumes']), tokenVolume(name)];
};

/** The work of the real server's admission plugins for Pods. */

export const pods = { group: '', plural: 'pods', kind: 'Pod' };

/** Errors name a Pod without a final name by its `generateName`. */
const nameOrPrefix = ({ metadata: { name, generateName } }: KubeObject): string =>
  generateName && name.startsWith(generateName) ? generateName : name;

const forbiddenPod = (pod: KubeObject, why: string): ApiError => forbiddenTo(pods, nameOrPrefix(pod), why);

const isMirror = (pod: KubeObject): boolean => 'kubernetes.io/config.mirror' in (pod.metadata.annotations ?? {});

const projectsToken = (spec: Fields): boolean =>
  objectsOf(spec['volumes']).some(({ projected }) =>
    objectsOf(fieldsOf(projected)['sources']).some((source) => isObject(source['serviceAccountToken'])),
  );

/** A mirror Pod shows a static Pod of the kubelet, which runs without a service account. */
const checkMirror = (pod: KubeObject): void => {
  const spec = fieldsOf(pod['spec']);
  if (textOf(spec['serviceAccountName']) !== '')
    throw forbiddenPod(pod, 'a mirror pod may not reference service accounts');
  if (podReferences(pod).secrets.length > 0) throw forbiddenPod(pod, 'a mirror pod may not reference secrets');
  if (projectsToken(spec)) throw forbiddenPod(pod, 'a mirror pod may not use ServiceAccountToken volume projections');
};

const assignServiceAccount = (pod: KubeObject, { api }: WriteContext): void => {
  const spec = childOf(pod, 'spec');
  const namespace = pod.metadata.namespace ?? '';
  const name = textOf(spec['serviceAccountName']) || 'default';
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
  const resource = api.find('', 'serviceaccounts');
  const account = resource && api.get(resource, namespace, name);
  if (!account) {
    throw forbiddenPod(
      pod,
      `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
    );
  }
  const automount = spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true;
  if (automount) mountToken(spec, () => generateName('', api.random));
  if (listOf(spec['imagePullSecrets']).length === 0 && listOf(account['imagePullSecrets']).length > 0) {
    spec['imagePullSecrets'] = copy(account['imagePullSecrets']);
  }
};

/** There are no PriorityClasses here, so every Pod has the same priority. */
const assignPriority = (pod: KubeObject): void => {
  const spec = childOf(pod, 'spec');
  const priorityClass = textOf(spec['priorityClassName']);
  if (priorityClass !== '') throw forbiddenPod(pod, `no PriorityClass with name ${priorityClass} was found`);
  const given = numberOf(spec['priority']);
  if (given !== 0) {
    throw forbiddenPod(
      pod,
      `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`,
    );
  }
  const policy = textOf(spec['preemptionPolicy']) || 'PreemptLowerPriority';
  if (policy !== 'PreemptLowerPriority') {
    throw forbiddenPod(
      pod,
      `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name`,
    );
  }
  spec['priority'] = 0;
  spec['preemptionPolicy'] = policy;
};

/** By default a Pod survives a short outage of its node. */
const addDefaultTolerations = (pod: KubeObject): void => {
  const spec = childOf(pod, 'spec');
  const tolerations = objectsOf(spec['tolerations']);
  const covers = (key: string): boolean =>
    tolerations.some(
      (toleration) =>
        ['', key].includes(textOf(toleration['key'])) && ['', 'NoExecute'].includes(textOf(toleration['effect'])),
    );
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter((key) => !covers(key));
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  if (added.length > 0) spec['tolerations'] = [...tolerations, ...added];
};

/** There are no RuntimeClasses here, and only they may set an overhead. */
const checkRuntimeClass = (pod: KubeObject): void => {
  const spec = fieldsOf(pod['spec']);
  const runtimeClass = textOf(spec['runtimeClassName']);
  if (runtimeClass !== '') throw forbiddenPod(pod, `pod rejected: RuntimeClass "${runtimeClass}" not found`);
  if (isObject(spec['overhead'])) {
    throw forbiddenPod(pod, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
};

export const admitNewPod = (pod: KubeObject, context: WriteContext): void => {
  if (isMirror(pod)) checkMirror(pod);
  else assignServiceAccount(pod, context);
  assignPriority(pod);
  addDefaultTolerations(pod);
  checkRuntimeClass(pod);
};

/** Keeps the values that admission set at creation, also when a client leaves them out. */
export const admitPodUpdate = (pod: KubeObject, old: KubeObject): void => {
  const spec = childOf(pod, 'spec');
  const before = fieldsOf(old['spec']);
  for (const field of ['priority', 'preemptionPolicy']) {
    if (spec[field] === undefined && before[field] !== undefined) spec[field] = before[field];
  }
  addDefaultTolerations(pod);
};
