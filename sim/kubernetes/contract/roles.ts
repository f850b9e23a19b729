import type { BehaviourContext } from './behaviour-context.ts';

const group = 'rbac.authorization.k8s.io';
export const clusterRoles = `/apis/${group}/v1/clusterroles`;
export const clusterRoleBindings = `/apis/${group}/v1/clusterrolebindings`;

export type Rule = Record<string, readonly string[]>;
export type Subject = { kind: 'User' | 'Group' | 'ServiceAccount'; name: string; namespace?: string };

export const named = (kind: string, name: string, more: object = {}): Record<string, unknown> => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name },
  ...more,
});

export const roleRef = (kind: string, name: string): object => ({ apiGroup: group, kind, name });

export const binding = (name: string, to: { kind: string; name: string }, subject: Subject): Record<string, unknown> =>
  named(to.kind === 'Role' ? 'RoleBinding' : 'ClusterRoleBinding', name, {
    roleRef: roleRef(to.kind, to.name),
    subjects: [subject],
  });

export const user = (name: string): Subject => ({ kind: 'User', name });

/** Headers to impersonate a user, which the administrator may. */
export const acting = (name: string, inGroup?: string): { headers: Record<string, string> } => ({
  headers: { 'impersonate-user': name, ...(inGroup === undefined ? {} : { 'impersonate-group': inGroup }) },
});

/** A ClusterRole with these rules, bound to this subject. Deleted at the end of the context. */
export const grantEverywhere = async (
  context: BehaviourContext,
  rules: readonly Rule[],
  subject: Subject,
): Promise<string> => {
  const name = context.unique('contract');
  await context.create(clusterRoles, named('ClusterRole', name, { rules }));
  context.deleteAfterBehaviour(`${clusterRoles}/${name}`);
  await context.create(clusterRoleBindings, binding(name, { kind: 'ClusterRole', name }, subject));
  context.deleteAfterBehaviour(`${clusterRoleBindings}/${name}`);
  return name;
};

/** A Role in the context's own namespace. */
export const grantHere = async (
  context: BehaviourContext,
  rules: readonly Rule[],
  subject: Subject,
): Promise<string> => {
  const name = context.unique('contract');
  await context.create(await context.collection('roles', `${group}/v1`), named('Role', name, { rules }));
  const bindings = await context.collection('rolebindings', `${group}/v1`);
  await context.create(bindings, binding(name, { kind: 'Role', name }, subject));
  return name;
};

/** The real server reads roles from a cache, which lags a little. */
export const untilAllowed = (
  context: BehaviourContext,
  path: string,
  as: { headers: Record<string, string> },
): Promise<unknown> =>
  context.eventually(`the right to GET ${path}`, async () => {
    const answer = await context.get(path, as);
    return answer.code === 403 ? undefined : answer;
  });

export const untilRefused = (
  context: BehaviourContext,
  path: string,
  as: { headers: Record<string, string> },
): Promise<unknown> =>
  context.eventually(`GET ${path} to be refused`, async () => {
    const answer = await context.get(path, as);
    return answer.code === 403 ? answer : undefined;
  });
