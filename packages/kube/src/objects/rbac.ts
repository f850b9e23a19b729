import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './builtin.ts';
import type { KubeObject, ObjectName, Resource } from './object.ts';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly resourceNames?: string[];
  readonly verbs: string[];
}

/** A rule for non-resource URLs. */
export interface NonResourceRule {
  readonly nonResourceURLs: string[];
  readonly verbs: string[];
}

/** With the reason, which docs/reference/rights.md shows. */
export type ExplainedRule<R extends PolicyRule | NonResourceRule = PolicyRule> = R & { readonly for: string };

/** Without the reason, as the API accepts it. */
export const withoutReason = <R extends PolicyRule | NonResourceRule>({ for: _reason, ...right }: ExplainedRule<R>) =>
  right;

/** Rules for the whole cluster, and per namespace. */
export interface PolicyRules<R extends PolicyRule = PolicyRule> {
  readonly clusterWide: readonly R[];
  /** By the namespace of the Role. */
  readonly inNamespace: Readonly<Record<string, readonly R[]>>;
}

/** `what` is one or several resources, optionally with resource names: `serviceaccounts/token capi-remote`. */
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

/** The whole table without reasons. */
export const withoutReasons = ({ clusterWide, inNamespace }: PolicyRules<ExplainedRule>): PolicyRules => ({
  clusterWide: clusterWide.map(withoutReason<PolicyRule>),
  inNamespace: Object.fromEntries(
    Object.entries(inNamespace).map(([namespace, rights]) => [namespace, rights.map(withoutReason<PolicyRule>)]),
  ),
});

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** A ServiceAccount or a group. */
type RbacSubject = { readonly account: ObjectName } | { readonly group: string };

interface RuleTable {
  readonly clusterWide?: readonly (PolicyRule | NonResourceRule)[];
  readonly inNamespace?: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** Creates or updates an object. */
type CreateOrUpdate = <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<unknown>;

/**
 * Creates roles and bindings of that name for installations without the chart: a ClusterRole for the cluster-wide rules, and a Role in
 * each namespace of the table.
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

/** Binds an existing ClusterRole, such as a built-in one. */
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
