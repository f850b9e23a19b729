import { definitions } from '@tartan/api/crds';
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  roleBindings,
  roles,
  serviceAccounts,
} from '@tartan/kube';
import { joinBinding, parseFlags, providerRights, type Right } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { type ControlPlane, fleetNamespace as namespace } from './control-plane.ts';
import type { Furniture } from './furniture.ts';
import { untilServed } from './until-served.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** As whom the provider works. */
export const providerAccount = { namespace, name: 'tartan-provider' } as const;

/**
 * What an administrator installs before a provider can work: our kinds (and those of Cluster API core, where that is played), the
 * provider's account with its rights and no others, and what Macs need to join.
 */
export const furnish = async (
  plane: ControlPlane,
  furniture: Furniture,
  providerFlags: readonly string[],
): Promise<void> => {
  const { ensure } = furniture;
  const wanted = [...definitions, ...(plane.needsCore ? coreDefinitions() : [])];
  for (const definition of wanted) await ensure(customResourceDefinitions, definition);
  await untilServed(plane.client, wanted);
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: providerAccount });
  await grant(furniture, providerFlags);
  await letMacsJoin(plane, furniture);
};

const copied = (rules: readonly Right[]) =>
  rules.map(({ apiGroups, resources, resourceNames, verbs }) => ({
    apiGroups: [...(apiGroups ?? [])],
    resources: [...(resources ?? [])],
    ...(resourceNames && { resourceNames: [...resourceNames] }),
    verbs: [...verbs],
  }));

const grant = async ({ ensure }: Furniture, flags: readonly string[]): Promise<void> => {
  const parsed = parseFlags(flags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  const { clusterWide, inNamespace } = providerRights(parsed.options);
  const { name } = providerAccount;
  const subjects = [{ kind: 'ServiceAccount', ...providerAccount }];
  await ensure(clusterRoles, {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name },
    rules: copied(clusterWide),
  });
  await ensure(clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects,
  });
  for (const [where, rights] of Object.entries(inNamespace)) {
    const metadata = { namespace: where, name };
    await ensure(roles, { apiVersion, kind: 'Role', metadata, rules: copied(rights) });
    const roleRef = { apiGroup, kind: 'Role', name };
    await ensure(roleBindings, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects });
  }
};

/** As kubeadm leaves a cluster for those who join. */
const letMacsJoin = async ({ url, ca }: ControlPlane, { ensure }: Furniture): Promise<void> => {
  const { clusterRole, group } = joinBinding;
  await ensure(clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${clusterRole}:${group}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: clusterRole },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
  });
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  // JSON is YAML.
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: '', cluster: { server: url, ...authority } }],
  });
  await ensure(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: { kubeconfig },
  });
};
