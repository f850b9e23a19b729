import assert from 'node:assert/strict';
import type { PolicyRules } from '@tartan/kube';
import { namespace, ofKind, only, type Rendered } from './render.ts';

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** The order is irrelevant. */
export const sorted = (rules: readonly object[]): readonly string[] =>
  rules.map((rule) => JSON.stringify(Object.fromEntries(Object.entries(rule).toSorted(byName)))).toSorted();

export const rulesIn = (object: Rendered): readonly string[] => sorted(object['rules']);

/** The ServiceAccount of that name has exactly the rights of the table, where the table grants them. */
export const assertRights = (
  objects: readonly Rendered[],
  name: string,
  { clusterWide, inNamespace }: PolicyRules,
): void => {
  const own = objects.filter(({ metadata }) => metadata.name === name);
  only(own, 'ServiceAccount');
  assert.deepEqual(rulesIn(only(own, 'ClusterRole')), sorted(clusterWide));
  const roles = ofKind(own, 'Role');
  assert.deepEqual(
    Object.fromEntries(roles.map((role) => [role.metadata.namespace, rulesIn(role)])),
    Object.fromEntries(Object.entries(inNamespace).map(([where, rules]) => [where, sorted(rules)])),
  );
  const subject = { kind: 'ServiceAccount', namespace, name };
  const bindings = [...ofKind(own, 'RoleBinding'), only(own, 'ClusterRoleBinding')];
  assert.equal(bindings.length, roles.length + 1);
  for (const binding of bindings) {
    assert.deepEqual(binding['subjects'], [subject]);
    assert.equal(binding['roleRef'].name, name);
  }
  const all = [...ofKind(objects, 'RoleBinding'), ...ofKind(objects, 'ClusterRoleBinding')];
  const bound = all.filter(({ subjects }) => JSON.stringify(subjects).includes(`"name":"${name}"`));
  assert.equal(bound.length, bindings.length, 'nothing else is bound to it');
};
