import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './builtin.ts';
import type { KubeObject, ObjectName, Resource } from './object.ts';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly resourceNames?: string[];
  readonly verbs: string[];
}

/** A rule about paths that are no resources. */
export interface NonResourceRule {
  readonly nonResourceURLs: string[];
  readonly verbs: string[];
}

/** With what it is needed for: docs/reference/rights.md shows it. */
export type ExplainedRule<R extends PolicyRule | NonResourceRule = PolicyRule> = R & { readonly for: string };

/** As Kubernetes takes it. */
export const withoutReason = <R extends PolicyRule | NonResourceRule>({ for: _reason, ...right }: ExplainedRule<R>) =>
  right;

/** Who may do what: everywhere, and by namespace. */
export interface PolicyRules<R extends PolicyRule = PolicyRule> {
  readonly clusterWide: readonly R[];
  /** By the namespace whose Role holds them. */
  readonly inNamespace: Readonly<Record<string, readonly R[]>>;
}

/** `what` is one resource or several, and may name their objects: `serviceaccounts/token capi-remote`. */
export const policyRule = (apiGroup: string, what: string, verbs: readonly string[], why: string): ExplainedRule => {
  const [resources = '', ...names] = what.split(' ');
  return {
    apiGroups: [apiGroup],
    resources: resources.split(','),
    ...(names.length > 0 && { resourceNames: names }),
    verbs: [...verbs],
    for: why,
  };
};

/** A whole table as Kubernetes takes it. */
export const withoutReasons = ({ clusterWide, inNamespace }: PolicyRules<ExplainedRule>): PolicyRules => ({
  clusterWide: clusterWide.map(withoutReason<PolicyRule>),
  inNamespace: Object.fromEntries(
    Object.entries(inNamespace).map(([namespace, rights]) => [namespace, rights.map(withoutReason<PolicyRule>)]),
  ),
});

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** Who gets rights: a ServiceAccount, or everybody of a group. */
type RbacSubject = { readonly account: ObjectName } | { readonly group: string };

interface RuleTable {
  readonly clusterWide?: readonly (PolicyRule | NonResourceRule)[];
  readonly inNamespace?: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** Makes an object, or sees to it that there is one. */
type CreateOrUpdate = <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<unknown>;

/**
 * A table of rights as roles and bindings of that name, for wherever there is no chart: a ClusterRole for what is true everywhere, and a
 * Role in each namespace of the table.
 */
export const grantPolicyRules = async (
  put: CreateOrUpdate,
  name: string,
  to: RbacSubject,
  table: RuleTable,
): Promise<void> => {
  const { clusterWide = [], inNamespace = {} } = table;
  if (clusterWide.length > 0) {
    await put(clusterRoles, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [...clusterWide] });
    await bindClusterRole(put, name, to, name);
  }
  for (const [namespace, rights] of Object.entries(inNamespace)) {
    const metadata = { namespace, name };
    await put(roles, { apiVersion, kind: 'Role', metadata, rules: [...rights] });
    const roleRef = { apiGroup, kind: 'Role', name };
    await put(roleBindings, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: subjectsOf(to) });
  }
};

/** The same for a role that is there, such as those that Kubernetes comes with. */
export const bindClusterRole = async (
  put: CreateOrUpdate,
  name: string,
  to: RbacSubject,
  role: string,
): Promise<void> => {
  const roleRef = { apiGroup, kind: 'ClusterRole', name: role };
  const subjects = subjectsOf(to);
  await put(clusterRoleBindings, { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects });
};

const subjectsOf = (to: RbacSubject) =>
  'group' in to ? [{ apiGroup, kind: 'Group', name: to.group }] : [{ kind: 'ServiceAccount', ...to.account }];
