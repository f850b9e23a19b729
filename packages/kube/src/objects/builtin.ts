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
import type { KubeObject, Resource } from './object.ts';

/** The built-in kinds in use. The types are the wire format's: times are strings, numbers may be quantities. */

const namespaced = <T extends KubeObject>(group: string, kind: string): Resource<T> => ({
  group,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const clusterScoped = <T extends KubeObject>(group: string, kind: string): Resource<T> => ({
  ...namespaced<T>(group, kind),
  namespaced: false,
});

export const configMaps = namespaced<IConfigMap>('', 'ConfigMap');
/** What `kubectl get events` shows. */
export const events = namespaced<IEvent>('', 'Event');
export const namespaces = clusterScoped<INamespace>('', 'Namespace');
export const nodes = clusterScoped<INode>('', 'Node');
export const pods = namespaced<IPod>('', 'Pod');
export const secrets = namespaced<ISecret>('', 'Secret');
export const services = namespaced<IService>('', 'Service');
export const serviceAccounts = namespaced<IServiceAccount>('', 'ServiceAccount');

export const daemonSets = namespaced<IDaemonSet>('apps', 'DaemonSet');
export const deployments = namespaced<IDeployment>('apps', 'Deployment');

export const certificateSigningRequests = clusterScoped<ICertificateSigningRequest>(
  'certificates.k8s.io',
  'CertificateSigningRequest',
);

export const customResourceDefinitions = clusterScoped<ICustomResourceDefinition>(
  'apiextensions.k8s.io',
  'CustomResourceDefinition',
);

export const leases = namespaced<ILease>('coordination.k8s.io', 'Lease');

/** The same events under their newer API, with a series and a reporting controller. */
export const eventsV1 = namespaced<IModernEvent>('events.k8s.io', 'Event');

export const podDisruptionBudgets = namespaced<IPodDisruptionBudget>('policy', 'PodDisruptionBudget');

export const clusterRoleBindings = clusterScoped<IClusterRoleBinding>(
  'rbac.authorization.k8s.io',
  'ClusterRoleBinding',
);
export const clusterRoles = clusterScoped<IClusterRole>('rbac.authorization.k8s.io', 'ClusterRole');
export const roleBindings = namespaced<IRoleBinding>('rbac.authorization.k8s.io', 'RoleBinding');
export const roles = namespaced<IRole>('rbac.authorization.k8s.io', 'Role');
