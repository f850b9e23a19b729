import type { ICustomResourceDefinition } from 'kubernetes-models/apiextensions.k8s.io/v1/CustomResourceDefinition';
import type { IDaemonSet } from 'kubernetes-models/apps/v1/DaemonSet';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { ICertificateSigningRequest } from 'kubernetes-models/certificates.k8s.io/v1/CertificateSigningRequest';
import type { ILease } from 'kubernetes-models/coordination.k8s.io/v1/Lease';
import type { IEvent as IModernEvent } from 'kubernetes-models/events.k8s.io/v1/Event';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IClusterRole } from 'kubernetes-models/rbac.authorization.k8s.io/v1/ClusterRole';
import type { IClusterRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/ClusterRoleBinding';
import type { IRole } from 'kubernetes-models/rbac.authorization.k8s.io/v1/Role';
import type { IRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IEvent } from 'kubernetes-models/v1/Event';
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import type { INode } from 'kubernetes-models/v1/Node';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { defineResource } from './object.ts';

/** The built-in kinds that this project speaks of. Their types are those of the wire: times are text, numbers may be quantities. */

const core = { group: '', version: 'v1' };
const namespaced = { ...core, namespaced: true };
const clusterScoped = { ...core, namespaced: false };
const apps = { group: 'apps', version: 'v1', namespaced: true };
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };

export const configMaps = defineResource<IConfigMap>({ ...namespaced, kind: 'ConfigMap', plural: 'configmaps' });
/** What `kubectl get events` shows. */
export const events = defineResource<IEvent>({ ...namespaced, kind: 'Event', plural: 'events' });
export const namespaces = defineResource<INamespace>({ ...clusterScoped, kind: 'Namespace', plural: 'namespaces' });
export const nodes = defineResource<INode>({ ...clusterScoped, kind: 'Node', plural: 'nodes' });
export const pods = defineResource<IPod>({ ...namespaced, kind: 'Pod', plural: 'pods' });
export const secrets = defineResource<ISecret>({ ...namespaced, kind: 'Secret', plural: 'secrets' });
export const services = defineResource<IService>({ ...namespaced, kind: 'Service', plural: 'services' });
export const serviceAccounts = defineResource<IServiceAccount>({
  ...namespaced,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
});

export const daemonSets = defineResource<IDaemonSet>({ ...apps, kind: 'DaemonSet', plural: 'daemonsets' });
export const deployments = defineResource<IDeployment>({ ...apps, kind: 'Deployment', plural: 'deployments' });

export const certificateSigningRequests = defineResource<ICertificateSigningRequest>({
  group: 'certificates.k8s.io',
  version: 'v1',
  namespaced: false,
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
});

export const customResourceDefinitions = defineResource<ICustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  namespaced: false,
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
});

export const leases = defineResource<ILease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  namespaced: true,
  kind: 'Lease',
  plural: 'leases',
});

/** The same events under their newer API, with a series and a reporting controller. */
export const eventsV1 = defineResource<IModernEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  namespaced: true,
  kind: 'Event',
  plural: 'events',
});

export const podDisruptionBudgets = defineResource<IPodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  namespaced: true,
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
});

export const clusterRoleBindings = defineResource<IClusterRoleBinding>({
  ...rbac,
  namespaced: false,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
});
export const clusterRoles = defineResource<IClusterRole>({
  ...rbac,
  namespaced: false,
  kind: 'ClusterRole',
  plural: 'clusterroles',
});
export const roleBindings = defineResource<IRoleBinding>({
  ...rbac,
  namespaced: true,
  kind: 'RoleBinding',
  plural: 'rolebindings',
});
export const roles = defineResource<IRole>({ ...rbac, namespaced: true, kind: 'Role', plural: 'roles' });
