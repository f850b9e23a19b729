import { controllerManager } from '../authentication/user.ts';
import { copy, equal, isObject, type KubeObject } from '../object.ts';
import { type LabelSelector, labelSelectorMatches } from '../selectors/label-selector.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { fieldsOf, objectsOf } from '../unstructured.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

const selectorsOf = (role: KubeObject): LabelSelector[] =>
  objectsOf(fieldsOf(role['aggregationRule'])['clusterRoleSelectors']);

/**
 * The rules of all roles that an aggregated role selects, sorted by role name, without duplicates; undefined without an aggregationRule.
 */
export const aggregatedRules = (role: KubeObject, all: readonly KubeObject[]): unknown[] | undefined => {
  if (!isObject(role['aggregationRule'])) return undefined;
  const others = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const found = selectorsOf(role).flatMap((selector) =>
    others
      .filter(({ metadata }) => labelSelectorMatches(selector, metadata.labels))
      .flatMap((each) => objectsOf(each['rules'])),
  );
  return found.filter((rule, index) => found.findIndex((other) => equal(other, rule)) === index);
};

/** Keeps the rules of aggregated ClusterRoles up to date. */
export const clusterRoleAggregation = (onError: OnError): Controller => ({
  name: 'clusterrole-aggregation',
  start: (api: LoopbackClient) => {
    const roles = api.find('rbac.authorization.k8s.io', 'clusterroles');
    if (!roles) return () => {};
    const reconcile = (name: string): void => {
      const role = api.get(roles, '', name);
      const rules = role && aggregatedRules(role, api.list(roles, ''));
      if (!role || !rules || equal(rules, objectsOf(role['rules']))) return;
      api.update(roles, '', { ...copy(role), rules: copy(rules) }, controllerManager);
    };
    const queue = workQueue({ clock: api.clock, reconcile, onError });
    // Any change may affect any aggregated role, and there are few.
    const all = (): void => {
      for (const role of api.list(roles, '')) if (isObject(role['aggregationRule'])) queue.add(role.metadata.name);
    };
    const stop = api.subscribe(roles, all);
    all();
    return () => {
      stop();
      queue.stop();
    };
  },
});
