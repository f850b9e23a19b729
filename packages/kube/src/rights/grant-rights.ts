import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../objects/builtin.ts';
import type { KubeObject, ObjectName } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import type { PathRight, Right } from './rights.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** Who gets rights: a ServiceAccount, or everybody of a group. */
export type Grantee = { readonly account: ObjectName } | { readonly group: string };

interface Table {
  readonly clusterWide?: readonly (Right | PathRight)[];
  readonly inNamespace?: Readonly<Record<string, readonly Right[]>>;
}

/** Makes an object, or sees to it that there is one. */
export type Put = <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<unknown>;

/**
 * A table of rights as roles and bindings of that name, for wherever there is no chart: a ClusterRole for what is true everywhere, and a
 * Role in each namespace of the table.
 */
export const grantRights = async (put: Put, name: string, to: Grantee, table: Table): Promise<void> => {
  const { clusterWide = [], inNamespace = {} } = table;
  if (clusterWide.length > 0) {
    const rules = clusterWide.map(ruleOf);
    await put(clusterRoles, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules });
    await bindClusterRole(put, name, to, name);
  }
  for (const [namespace, rights] of Object.entries(inNamespace)) {
    const metadata = { namespace, name };
    await put(roles, { apiVersion, kind: 'Role', metadata, rules: rights.map(ruleOf) });
    const roleRef = { apiGroup, kind: 'Role', name };
    await put(roleBindings, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: subjectsOf(to) });
  }
};

/** The same for a role that is there, such as those that Kubernetes comes with. */
export const bindClusterRole = async (put: Put, name: string, to: Grantee, role: string): Promise<void> => {
  const roleRef = { apiGroup, kind: 'ClusterRole', name: role };
  const subjects = subjectsOf(to);
  await put(clusterRoleBindings, { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects });
};

const subjectsOf = (to: Grantee) =>
  'group' in to ? [{ apiGroup, kind: 'Group', name: to.group }] : [{ kind: 'ServiceAccount', ...to.account }];

/** A copy that may be changed, as the types of objects want it. */
const ruleOf = (right: Right | PathRight) =>
  'nonResourceURLs' in right
    ? { nonResourceURLs: [...right.nonResourceURLs], verbs: [...right.verbs] }
    : {
        apiGroups: [...right.apiGroups],
        resources: [...right.resources],
        ...('resourceNames' in right && right.resourceNames && { resourceNames: [...right.resourceNames] }),
        verbs: [...right.verbs],
      };
