import { definitions } from '@tartan/api/crds';
import type { Right } from '@tartan/kube';

const apiGroups = ['apiextensions.k8s.io'];
const resources = ['customresourcedefinitions'];

/** All that bringing our definitions up to date takes: others than ours it may not even read. RBAC cannot name what is yet to be created. */
export const installRights: readonly Right[] = [
  { apiGroups, resources, verbs: ['create'] },
  {
    apiGroups,
    resources,
    resourceNames: definitions.map(({ metadata }) => metadata?.name ?? ''),
    verbs: ['get', 'update'],
  },
];
