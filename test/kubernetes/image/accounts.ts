import {
  type Client,
  clusterRoleBindings,
  clusterRoles,
  createSubresources,
  type PolicyRule,
  type PolicyRules,
  roleBindings,
  roles,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1` as const;

/** A ServiceAccount with exactly these rights. Returns a token for it. */
export const accountWith = async (
  admin: { client: Client; transport: Transport },
  name: string,
  namespace: string,
  { clusterWide, inNamespace }: PolicyRules,
): Promise<string> => {
  const { client, transport } = admin;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const copied = (rules: readonly PolicyRule[]) => structuredClone(rules) as never;
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
  const metadata = { name };
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  await client.create(clusterRoles, { apiVersion, kind: 'ClusterRole', metadata, rules: copied(clusterWide) });
  await client.create(clusterRoleBindings, { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects });
  for (const [where, rights] of Object.entries(inNamespace)) {
    const placed = { namespace: where, name };
    const ref = { apiGroup, kind: 'Role', name };
    await client.create(roles, { apiVersion, kind: 'Role', metadata: placed, rules: copied(rights) });
    await client.create(roleBindings, { apiVersion, kind: 'RoleBinding', metadata: placed, roleRef: ref, subjects });
  }
  return (await createSubresources(transport, { clock }).createToken({ namespace, name }, {})).token;
};
