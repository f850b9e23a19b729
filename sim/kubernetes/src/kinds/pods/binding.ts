import { jsonAnswer } from '../../exchange/exchange.ts';
import { copy, isObject, type KubeObject } from '../../object.ts';
import type { Action, Resource, View, WriteContext } from '../../resource.ts';
import { ApiError, badRequest, conflict, internalError, notFound } from '../../status/api-error.ts';
import { type Cause, notSupported, required } from '../../status/cause.ts';
import { childOf, fieldsOf, listOf, textOf } from '../fields.ts';
import { pods } from './admission.ts';
import { setPodCondition } from './conditions.ts';

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

const refused = (pod: KubeObject, why: string): ApiError =>
  conflict({ ...pods, plural: 'pods/binding' }, pod.metadata.name, why);

const assertUnbound = (pod: KubeObject): void => {
  const { name, deletionTimestamp } = pod.metadata;
  const spec = fieldsOf(pod['spec']);
  const node = textOf(spec['nodeName']);
  if (deletionTimestamp) throw refused(pod, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (node !== '') throw refused(pod, `pod ${name} is already assigned to node "${node}"`);
  if (listOf(spec['schedulingGates']).length > 0) throw refused(pod, `pod ${name} has non-empty .spec.schedulingGates`);
};

/** The Pod once it is on its node, with the labels and annotations that the Binding brought. Throws the 409s. */
const bound = (pod: KubeObject, binding: KubeObject, context: WriteContext): KubeObject => {
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

/** How a Binding is written into its Pod: past the rules for updates, which would not let the node change. */
export const bindingView: View = {
  schema: undefined,
  read: (pod) => pod,
  write: bound,
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

/** The real server did not foresee a bad Binding: its answer is a 500 that only has a text. */
const assertValid = (binding: KubeObject): void => {
  const texts = validateBinding(binding).map(({ field, message }) => `${field}: ${message}`);
  if (texts.length > 0) throw new ApiError(500, '', texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
};

/** UID and resource version of a Binding are those of the Pod that its author has seen. */
const assertSeen = (pod: KubeObject, binding: KubeObject): void => {
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
  assertSeen(pod, binding);
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
  return jsonAnswer(201, success);
};

/** POST bindings, the older way. The namespace is the one of the request. */
export const bindByObject: NonNullable<Resource['review']> = (binding, context) => {
  if (!binding.metadata.name) throw badRequest('Name parameter required.');
  bind(binding.metadata.namespace ?? 'default', binding, context);
  return success as unknown as KubeObject;
};
