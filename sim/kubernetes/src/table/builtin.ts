import { bindings } from './builtin/bindings.ts';
import { certificateSigningRequests } from './builtin/certificates.ts';
import { coreEvents, modernEvents } from './builtin/events.ts';
import { nodes } from './builtin/nodes.ts';
import { pods } from './builtin/pods.ts';
import { services } from './builtin/services.ts';
import { configMaps, leases, namespaces, secrets } from './builtin/simple.ts';
import { daemonSets, deployments, replicaSets } from './builtin/workloads.ts';
import { type Columns, nameAndAge, nameAndCreation } from './columns.ts';

/** Keyed by `plural` for the core group and `plural.group` for others. */
export const builtinColumns: Readonly<Record<string, Columns>> = {
  configmaps: configMaps,
  events: coreEvents,
  namespaces,
  nodes,
  pods,
  secrets,
  serviceaccounts: nameAndAge,
  services,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequests,
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  'clusterroles.rbac.authorization.k8s.io': nameAndCreation,
  'customresourcedefinitions.apiextensions.k8s.io': nameAndCreation,
  'daemonsets.apps': daemonSets,
  'deployments.apps': deployments,
  'events.events.k8s.io': modernEvents,
  'leases.coordination.k8s.io': leases,
  'replicasets.apps': replicaSets,
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'roles.rbac.authorization.k8s.io': nameAndCreation,
};
