import { join } from 'node:path';
import { getJson } from '../api-request.ts';
import type { Access } from '../control-plane/kubeconfig.ts';

/** The file from which the embedded server reads its built-in roles. */
export const rolesPath = join(import.meta.dirname, '../../../../sim/kubernetes/src/generated/roles.generated.json');

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

/** Roles of controllers with their own service accounts. The embedded server's controllers need none. */
const controllerRoleName = /^system::?controller:/;

const trimmedRole = ({ metadata, aggregationRule, rules, ...rest }: Role, kind: string): object => {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels, annotations },
    ...rest,
    // The rules of an aggregated role belong to other roles.
    ...(aggregationRule === undefined ? (rules === undefined ? {} : { rules }) : { aggregationRule, rules: null }),
  };
};

/** The text of that file, from a running API server. */
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
