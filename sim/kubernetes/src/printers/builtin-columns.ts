import type { KubeObject } from '../object.ts';
import {
  type Fields,
  nestedField,
  nestedMap,
  nestedMaps,
  nestedNumber,
  nestedString,
  nestedStrings,
  orElse,
} from '../unstructured.ts';
import {
  ageColumn,
  ageOf,
  column,
  type Columns,
  humanDuration,
  nameAndAge,
  nameAndCreation,
  nameColumn,
  nameOf,
  wide,
} from './columns.ts';
import { coreEvents, modernEvents } from './event-columns.ts';
import { pods } from './pod-columns.ts';
import { daemonSets, deployments, replicaSets } from './workload-columns.ts';

/** Kinds with few columns. */

const size = (object: unknown, field: string): number => Object.keys(nestedMap(object, field)).length;

const namespaces: Columns = {
  definitions: [nameColumn, column('Status'), ageColumn],
  cells: (object, now) => [nameOf(object), nestedString(object, 'status', 'phase'), ageOf(object, now)],
};

const secrets: Columns = {
  definitions: [nameColumn, column('Type'), column('Data'), ageColumn],
  cells: (object, now) => [nameOf(object), nestedString(object, 'type'), size(object, 'data'), ageOf(object, now)],
};

const configMaps: Columns = {
  definitions: [nameColumn, column('Data'), ageColumn],
  cells: (object, now) => [nameOf(object), size(object, 'data') + size(object, 'binaryData'), ageOf(object, now)],
};

const leases: Columns = {
  definitions: [nameColumn, column('Holder'), ageColumn],
  cells: (object, now) => [nameOf(object), nestedString(object, 'spec', 'holderIdentity'), ageOf(object, now)],
};

const subjects = (binding: unknown, kind: string, shown: (subject: Fields) => string): string =>
  nestedMaps(binding, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map(shown)
    .join(', ');

const userName = (subject: Fields): string => nestedString(subject, 'name');
const namespacedName = (subject: Fields): string =>
  `${nestedString(subject, 'namespace')}/${nestedString(subject, 'name')}`;

/** For RoleBindings and ClusterRoleBindings. */
const bindings: Columns = {
  definitions: [nameColumn, column('Role'), ageColumn, wide('Users'), wide('Groups'), wide('ServiceAccounts')],
  cells: (binding, now) => [
    nameOf(binding),
    `${nestedString(binding, 'roleRef', 'kind')}/${nestedString(binding, 'roleRef', 'name')}`,
    ageOf(binding, now),
    subjects(binding, 'User', userName),
    subjects(binding, 'Group', userName),
    subjects(binding, 'ServiceAccount', namespacedName),
  ],
};

/** A denial takes precedence over an approval; failure and certificate are appended. */
const condition = (request: unknown): string => {
  const types = new Set(nestedMaps(request, 'status', 'conditions').map((entry) => entry['type']));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  const issued = nestedString(request, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
};

const requestedDuration = (request: unknown): string =>
  nestedField(request, 'spec', 'expirationSeconds') === undefined
    ? '<none>'
    : humanDuration(nestedNumber(request, 'spec', 'expirationSeconds') * 1000);

const certificateSigningRequests: Columns = {
  definitions: [
    nameColumn,
    ageColumn,
    column('SignerName'),
    column('Requestor'),
    column('RequestedDuration'),
    column('Condition'),
  ],
  cells: (request, now) => [
    nameOf(request),
    ageOf(request, now),
    orElse(nestedString(request, 'spec', 'signerName'), '<none>'),
    nestedString(request, 'spec', 'username'),
    requestedDuration(request),
    condition(request),
  ],
};

const rolePrefix = 'node-role.kubernetes.io/';

const roles = (node: KubeObject): string => {
  const found = Object.entries(node.metadata.labels ?? {}).map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length);
    return key === 'kubernetes.io/role' ? value : '';
  });
  return [...new Set(found)]
    .filter((role) => role !== '')
    .sort()
    .join(',');
};

const status = (node: unknown): string => {
  const ready = nestedMaps(node, 'status', 'conditions').findLast((condition) => condition['type'] === 'Ready');
  const readiness = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return nestedField(node, 'spec', 'unschedulable') === true ? `${readiness},SchedulingDisabled` : readiness;
};

const address = (node: unknown, type: string): string => {
  const found = nestedMaps(node, 'status', 'addresses').find((entry) => entry['type'] === type);
  return found === undefined ? '<none>' : nestedString(found, 'address');
};

const info = (node: unknown, field: string): string => nestedString(node, 'status', 'nodeInfo', field);

const kernel = (node: unknown): string => {
  const version = orElse(info(node, 'kernelVersion'), '<unknown>');
  const architecture = info(node, 'architecture');
  return architecture === '' ? version : `${version} (${architecture})`;
};

const nodes: Columns = {
  definitions: [
    nameColumn,
    column('Status'),
    column('Roles'),
    ageColumn,
    column('Version'),
    wide('Internal-IP'),
    wide('External-IP'),
    wide('OS-Image'),
    wide('Kernel-Version'),
    wide('Container-Runtime'),
  ],
  cells: (node, now) => [
    nameOf(node),
    status(node),
    orElse(roles(node), '<none>'),
    ageOf(node, now),
    info(node, 'kubeletVersion'),
    address(node, 'InternalIP'),
    address(node, 'ExternalIP'),
    orElse(info(node, 'osImage'), '<unknown>'),
    kernel(node),
    orElse(info(node, 'containerRuntimeVersion'), '<unknown>'),
  ],
};

const balancers = (service: unknown): string[] => {
  const found = nestedMaps(service, 'status', 'loadBalancer', 'ingress').map((ingress) =>
    orElse(nestedString(ingress, 'ip'), nestedString(ingress, 'hostname')),
  );
  return [...new Set(found)].filter((address) => address !== '').sort();
};

const externalIP = (service: unknown): string => {
  const external = nestedStrings(service, 'spec', 'externalIPs');
  switch (nestedString(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orElse(external.join(','), '<none>');
    case 'LoadBalancer':
      return orElse([...balancers(service), ...external].join(','), '<pending>');
    case 'ExternalName':
      return nestedString(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
};

const ports = (service: unknown): string =>
  nestedMaps(service, 'spec', 'ports')
    .map((port) => {
      const nodePort = nestedNumber(port, 'nodePort');
      const number = nodePort > 0 ? `${nestedNumber(port, 'port')}:${nodePort}` : `${nestedNumber(port, 'port')}`;
      return `${number}/${nestedString(port, 'protocol')}`;
    })
    .join(',');

const selector = (service: unknown): string => {
  const labels = nestedMap(service, 'spec', 'selector');
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${nestedString(labels, key)}`)
    .join(',');
};

const services: Columns = {
  definitions: [
    nameColumn,
    column('Type'),
    column('Cluster-IP'),
    column('External-IP'),
    column('Port(s)'),
    ageColumn,
    wide('Selector'),
  ],
  cells: (service, now) => [
    nameOf(service),
    nestedString(service, 'spec', 'type'),
    nestedStrings(service, 'spec', 'clusterIPs')[0] ?? '<none>',
    externalIP(service),
    orElse(ports(service), '<none>'),
    ageOf(service, now),
    orElse(selector(service), '<none>'),
  ],
};

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
