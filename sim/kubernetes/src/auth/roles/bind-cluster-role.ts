import type { Api } from '../../api/api.ts';
import { masters } from '../user.ts';

type Subject = { kind: 'User' | 'Group'; name: string } | { kind: 'ServiceAccount'; namespace: string; name: string };

const group = 'rbac.authorization.k8s.io';

/** Gives somebody the rights of a ClusterRole everywhere, as an administrator would; for whoever furnishes a cluster. */
export const bindClusterRole = (api: Api, role: string, subject: Subject): void => {
  const bindings = api.find(group, 'clusterrolebindings');
  if (!bindings) throw new Error('this server serves no roles');
  const name = `${role}:${subject.name}`;
  if (api.get(bindings, '', name)) return;
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [subject],
  };
  api.create(bindings, '', binding, { name: 'kubernetes-admin', groups: [masters] });
};
