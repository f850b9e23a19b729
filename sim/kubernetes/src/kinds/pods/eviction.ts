import type { DeleteOptions } from '../../api/api.ts';
import { jsonAnswer } from '../../exchange/exchange.ts';
import { copy, isObject, type KubeObject } from '../../object.ts';
import type { Action, Resource } from '../../resource.ts';
import { ApiError, badRequest, conflict, internalError, notFound } from '../../status/api-error.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../fields.ts';
import { pods } from './admission.ts';
import { setPodCondition } from './conditions.ts';

const policies = ['Orphan', 'Background', 'Foreground'] as const;

/** Go prints a list of words so. */
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

const marked = (pod: KubeObject, now: number): KubeObject => {
  const next = copy(pod);
  setPodCondition(
    next,
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
    now,
  );
  return next;
};

/** POST pods/NAME/eviction. There are no disruption budgets, so nothing stands in the way of an eviction. */
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
    const updated = api.updateStatus(resource, namespace, marked(pod, api.clock.now()), user);
    if (options.preconditions?.resourceVersion) {
      options.preconditions.resourceVersion = updated.metadata.resourceVersion;
    }
  }
  api.delete(resource, namespace, name, user, options);
  return jsonAnswer(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
};
