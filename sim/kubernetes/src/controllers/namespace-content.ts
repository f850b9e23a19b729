import type { Api } from '../api/api.ts';
import { controllerManager } from '../auth/user.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { ApiError } from '../status/api-error.ts';
import type { Content } from './namespace-conditions.ts';
import { asPod, isFinished } from './shapes.ts';

/** How long finalizers are given until the namespace is looked at again. */
const finalizerSeconds = 15;

export interface Pass extends Content {
  /** Seconds after which it is worth to look again; 0 when nothing is left. */
  estimate: number;
}

/** How long the Pods that run may take to end, unless the namespace has been waiting for that long already. */
const graceOf = (pods: readonly KubeObject[], waitedSeconds: number): number => {
  const graces = pods
    .map(asPod)
    .filter((pod) => !isFinished(pod))
    .map((pod) => pod.spec.terminationGracePeriodSeconds ?? 0);
  const longest = Math.max(0, ...graces);
  return waitedSeconds >= longest ? 0 : longest;
};

const deletable = ({ namespaced, verbs, review }: Resource): boolean =>
  namespaced && review === undefined && verbs.includes('delete') && verbs.includes('list');

/** Deletes everything in a namespace, once over: Pods first, and nothing else as long as there are some. */
export const emptyNamespace = (api: Api, namespace: string, waitedSeconds: number): Pass => {
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  let estimate = 0;

  const remove = (resource: Resource): number => {
    const before = api.list(resource, namespace);
    const grace = resource.group === '' && resource.plural === 'pods' ? graceOf(before, waitedSeconds) : 0;
    for (const { metadata } of before) {
      api.delete(resource, namespace, metadata.name, controllerManager, { propagationPolicy: 'Background' });
    }
    const left = api.list(resource, namespace);
    if (left.length === 0) return 0;
    const held = left.flatMap(({ metadata }) => metadata.finalizers ?? []);
    for (const finalizer of held) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    remaining.set(`${resource.plural}.${resource.group}`, left.length);
    estimate = Math.max(estimate, grace > 0 ? grace : held.length > 0 ? finalizerSeconds : 0);
    if (grace === 0 && held.length === 0) {
      const name = `${resource.group}/${resource.version}, Resource=${resource.plural}`;
      failures.push(`unexpected items still remain in namespace: ${namespace} for gvr: ${name}`);
    }
    return left.length;
  };

  const attempt = (resource: Resource): number => {
    try {
      return remove(resource);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures.push(error.message);
      return 0;
    }
  };

  const pods = api.find('', 'pods');
  if (pods && attempt(pods) > 0) {
    // As the real one does: what is left is counted only once the Pods are gone.
    return { remaining: new Map(), finalizers: new Map(), failures, estimate };
  }
  for (const resource of api.resources()) {
    if (deletable(resource) && !(resource.group === '' && resource.plural === 'pods')) attempt(resource);
  }
  return { remaining, finalizers, failures, estimate };
};
