import { timestamp } from '@tartan/kube/clock';
import { pods } from '../../admission/pod-admission.ts';
import { ApiError, badRequest, conflict, internalError, notFound } from '../../errors/api-error.ts';
import { type Cause, notSupported, required } from '../../errors/field-errors.ts';
import { jsonResponse } from '../../http-messages.ts';
import { copy, isObject, type KubeObject } from '../../object.ts';
import type { Action, Resource, View, WriteContext } from '../../resource.ts';
import type { DeleteOptions } from '../../store/loopback-client.ts';
import { childOf, type Fields, fieldsOf, listOf, objectsOf, textOf } from '../../unstructured.ts';

interface PodCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
}

/** Sets a condition; lastTransitionTime changes only with the status. */
const setPodCondition = (pod: KubeObject, condition: PodCondition, now: number): void => {
  const status = childOf(pod, 'status');
  const conditions = objectsOf(status['conditions']);
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const previous = conditions[index];
  const unchanged = previous?.['status'] === condition.status;
  const next: Fields = {
    type: condition.type,
    status: condition.status,
    lastProbeTime: null,
    lastTransitionTime: unchanged ? (previous?.['lastTransitionTime'] ?? null) : timestamp(now),
    ...(condition.reason === undefined ? {} : { reason: condition.reason }),
    ...(condition.message === undefined ? {} : { message: condition.message }),
  };
  status['conditions'] = index === -1 ? [...conditions, next] : conditions.with(index, next);
};

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

const bindingConflict = (pod: KubeObject, why: string): ApiError =>
  conflict({ ...pods, plural: 'pods/binding' }, pod.metadata.name, why);

const assertUnbound = (pod: KubeObject): void => {
  const { name, deletionTimestamp } = pod.metadata;
  const spec = fieldsOf(pod['spec']);
  const node = textOf(spec['nodeName']);
  if (deletionTimestamp) throw bindingConflict(pod, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (node !== '') throw bindingConflict(pod, `pod ${name} is already assigned to node "${node}"`);
  if (listOf(spec['schedulingGates']).length > 0)
    throw bindingConflict(pod, `pod ${name} has non-empty .spec.schedulingGates`);
};

/** The Pod after binding, with the labels and annotations of the Binding. Throws 409 if it cannot be bound. */
const boundPod = (pod: KubeObject, binding: KubeObject, context: WriteContext): KubeObject => {
  assertUnbound(pod);
  const next = copy(pod);
  childOf(next, 'spec')['nodeName'] = textOf(fieldsOf(binding['target'])['name']);
  delete childOf(next, 'status')['nominatedNodeName'];
  for (const field of ['annotations', 'labels'] as const) {
    const added = binding.metadata[field];
    if (added && Object.keys(added).length > 0) next.metadata[field] = { ...next.metadata[field], ...added };
  }
  setPodCondition(next, { type: 'PodScheduled', status: 'True' }, context.api.clock.now());
  return next;
};

/** Writes a Binding into its Pod. Skips the update rules, which forbid a change of the node. */
export const bindingView: View = {
  schema: undefined,
  read: (pod) => pod,
  write: boundPod,
  validate: () => [],
};

const validateBinding = (binding: KubeObject): Cause[] => {
  const target = fieldsOf(binding['target']);
  const kind = textOf(target['kind']);
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(textOf(target['name']) === '' ? [required('target.name')] : []),
  ];
};

/** The real server answers an invalid Binding with a 500 that has only a text. */
const assertValid = (binding: KubeObject): void => {
  const texts = validateBinding(binding).map(({ field, message }) => `${field}: ${message}`);
  if (texts.length > 0) throw new ApiError(500, '', texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
};

/** UID and resource version of a Binding are preconditions on the Pod. */
const assertPreconditionsOfBinding = (pod: KubeObject, binding: KubeObject): void => {
  const checks = [
    ['UID', binding.metadata.uid, pod.metadata.uid],
    ['ResourceVersion', binding.metadata.resourceVersion, pod.metadata.resourceVersion],
  ] as const;
  for (const [what, seen, actual] of checks) {
    if (!seen || seen === actual) continue;
    const key = `/registry/pods/${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
    throw conflict(
      pods,
      pod.metadata.name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${seen}, ${what} in object meta: ${actual}`,
    );
  }
};

const podsOf = ({ api }: WriteContext): Resource => {
  const resource = api.find('', 'pods');
  if (!resource) throw internalError('pods are not served');
  return resource;
};

const bind = (namespace: string, binding: KubeObject, context: WriteContext): void => {
  assertValid(binding);
  const resource = podsOf(context);
  const { name, labels, annotations } = binding.metadata;
  const pod = context.api.get(resource, namespace, name);
  if (!pod) throw notFound(pods, name);
  assertPreconditionsOfBinding(pod, binding);
  const { uid, resourceVersion, creationTimestamp } = pod.metadata;
  const seen: KubeObject = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
    },
    target: binding['target'],
  };
  context.api.updateSubresource(resource, 'binding', namespace, seen, context.user, { dryRun: context.dryRun });
};

const assertNamespace = (binding: KubeObject, namespace: string): void => {
  if (binding.metadata.namespace && binding.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
};

/** POST pods/NAME/binding. */
export const bindPod: Action = ({ name, namespace, body, context }) => {
  if (!body || !isObject(body.metadata)) throw badRequest('name in URL does not match name in Binding object');
  assertNamespace(body, namespace);
  if (body.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  bind(namespace, body, context);
  return jsonResponse(201, success);
};

/** POST bindings, the older API. The namespace is that of the request. */
export const bindByObject: NonNullable<Resource['review']> = (binding, context) => {
  if (!binding.metadata.name) throw badRequest('Name parameter required.');
  bind(binding.metadata.namespace ?? 'default', binding, context);
  return success as unknown as KubeObject;
};

const policies = ['Orphan', 'Background', 'Foreground'] as const;

/** A list of words as Go prints it. */
const printed = (words: readonly unknown[]): string => `[${words.join(' ')}]`;

const isDryRun = (options: Fields, requested: boolean): boolean => {
  const inBody = listOf(options['dryRun']);
  if (inBody.length > 0 && requested && (inBody.length !== 1 || inBody[0] !== 'All')) {
    throw new ApiError(500, '', `Non-matching dry-run options in request and content: [All] and ${printed(inBody)}`);
  }
  return requested || inBody.length > 0;
};

const deleteOptionsOf = (options: Fields, dryRun: boolean): DeleteOptions => {
  const grace = options['gracePeriodSeconds'];
  const policy = policies.find((candidate) => candidate === options['propagationPolicy']);
  const { uid, resourceVersion } = fieldsOf(options['preconditions']);
  return {
    dryRun,
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(policy ? { propagationPolicy: policy } : {}),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  };
};

const assertPreconditions = (pod: KubeObject, { preconditions = {} }: DeleteOptions): void => {
  const subject = { ...pods, plural: 'Pod' };
  const { uid, resourceVersion } = preconditions;
  if (uid && uid !== pod.metadata.uid) {
    throw conflict(
      subject,
      pod.metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict(
      subject,
      pod.metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${pod.metadata.resourceVersion}). The object might have been modified`,
    );
  }
};

const withDisruptionTarget = (pod: KubeObject, now: number): KubeObject => {
  const next = copy(pod);
  setPodCondition(
    next,
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
    now,
  );
  return next;
};

/** POST pods/NAME/eviction. There are no disruption budgets here, so nothing blocks an eviction. */
export const evictPod: Action = ({ name, namespace, body, context }) => {
  const { api, user } = context;
  if (textOf(body && isObject(body.metadata) ? body.metadata.name : '') !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const requested = fieldsOf(body?.['deleteOptions']);
  const options = deleteOptionsOf(requested, isDryRun(requested, context.dryRun));
  const resource: Resource | undefined = api.find('', 'pods');
  if (!resource) throw internalError('pods are not served');
  const pod = api.get(resource, namespace, name);
  if (!pod) throw notFound(pods, name);
  if (!options.dryRun) {
    assertPreconditions(pod, options);
    const updated = api.updateStatus(resource, namespace, withDisruptionTarget(pod, api.clock.now()), user);
    if (options.preconditions?.resourceVersion) {
      options.preconditions.resourceVersion = updated.metadata.resourceVersion;
    }
  }
  api.delete(resource, namespace, name, user, options);
  return jsonResponse(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
};
