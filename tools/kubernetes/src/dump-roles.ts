import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getJson } from './api-request.ts';
import { startControlPlane } from './control-plane.ts';
import type { Access } from './control-plane/kubeconfig.ts';

/** Where the embedded server finds the roles that exist from the start. */
export const rolesPath = join(import.meta.dirname, '../../../sim/kubernetes/src/generated/roles.generated.json');

interface Role {
  metadata: { name: string; namespace?: string; labels: unknown; annotations: unknown };
  aggregationRule?: unknown;
  rules?: unknown;
}

const kinds = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
};

/** Those of controllers that run as their own service accounts: the embedded server's act under no identity. */
const controllerRoleName = /^system::?controller:/;

const trimmedRole = ({ metadata, aggregationRule, rules, ...rest }: Role, kind: string): object => {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels, annotations },
    ...rest,
    // What a role gathers from others is theirs.
    ...(aggregationRule === undefined ? (rules === undefined ? {} : { rules }) : { aggregationRule, rules: null }),
  };
};

/** The text of that file, as a running API server of the real Kubernetes dictates it. */
export const dumpRoles = async (access: Access): Promise<string> => {
  const { gitVersion } = await getJson<{ gitVersion: string }>(access, '/version');
  const selector = encodeURIComponent('kubernetes.io/bootstrapping=rbac-defaults');
  const roles: object[] = [];
  for (const [plural, kind] of Object.entries(kinds)) {
    const path = `/apis/rbac.authorization.k8s.io/v1/${plural}?labelSelector=${selector}`;
    const { items } = await getJson<{ items: Role[] }>(access, path);
    roles.push(
      ...items.filter(({ metadata }) => !controllerRoleName.test(metadata.name)).map((role) => trimmedRole(role, kind)),
    );
  }
  const lines = roles.map((role) => `  ${JSON.stringify(role)}`).join(',\n');
  return `{ "version": ${JSON.stringify(gitVersion)}, "roles": [\n${lines}\n] }\n`;
};

if (import.meta.main) {
  const controlPlane = await startControlPlane();
  try {
    writeFileSync(rolesPath, await dumpRoles(controlPlane));
    process.stdout.write(`wrote ${rolesPath}\n`);
  } finally {
    await controlPlane.stop();
  }
}
