import { nodeNameOf, type User } from '../authentication/user.ts';
import { forbiddenTo, notFound } from '../errors/api-error.ts';
import { equal, isObject, type KubeObject } from '../object.ts';
import { parseCertificateRequest } from '../pki/certificate-request.ts';
import type { ActionRequest } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { fieldsOf, textOf } from '../unstructured.ts';
import type { AdmissionAttributes } from './admission.ts';
import { mirrorPodProblem } from './mirror-pod.ts';

const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);

const domainOf = (key: string): string => (key.includes('/') ? key.slice(0, key.indexOf('/')) : '');

const within = (domain: string, ...parents: string[]): boolean =>
  parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));

/**
 * Labels by which administrators steer Pods: a Node that could set them would attract Pods that are not meant for it.
 * `node-restriction.kubernetes.io` exists only for this purpose.
 */
const isForbidden = (key: string): boolean => {
  const domain = domainOf(key);
  const ours = kubeletLabels.has(key) || within(domain, 'kubelet.kubernetes.io', 'node.kubernetes.io');
  return within(domain, 'kubernetes.io', 'k8s.io') && !ours;
};

type Labels = Readonly<Record<string, string>>;

const changedLabels = (labels: Labels, old: Labels): string[] =>
  [...new Set([...Object.keys(labels), ...Object.keys(old)])].filter((key) => labels[key] !== old[key]);

/** The labels that a Node wants to set, change or remove on itself and may not. */
export const forbiddenLabels = (labels: Labels = {}, old: Labels = {}): string[] =>
  changedLabels(labels, old).filter(isForbidden).sort();

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const audiencesOf = (spec: Record<string, unknown>): string[] =>
  list(spec['volumes'])
    .filter(isObject)
    .flatMap(({ projected }) => (isObject(projected) ? list(projected['sources']) : []))
    .filter(isObject)
    .flatMap(({ serviceAccountToken: token }) => (isObject(token) ? [text(token['audience'])] : []));

/**
 * NodeRestriction, as in 1.36.3: a Node gets only tokens bound to a Pod on it, for an audience that a projected volume of the Pod names.
 * Volumes of CSI drivers, which may name further audiences, are ignored.
 */
export const assertNodeMayRequestToken = (
  { context, name, namespace }: ActionRequest,
  spec: Record<string, unknown>,
): void => {
  const { api, user } = context;
  if (!user.groups.includes('system:nodes')) return;
  const refuse = (why: string) =>
    forbiddenTo({ group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' }, name, why);
  const ref = isObject(spec['boundObjectRef']) ? spec['boundObjectRef'] : {};
  if (ref['apiVersion'] !== 'v1' || ref['kind'] !== 'Pod' || text(ref['name']) === '')
    throw refuse('node requested token not bound to a pod');
  if (text(ref['uid']) === '') throw refuse('node requested token with a pod binding without a uid');
  const resource = api.find('', 'pods');
  const pod = resource && api.get(resource, namespace, text(ref['name']));
  if (!pod) throw notFound({ group: '', plural: 'pods', kind: '' }, text(ref['name']));
  const why = `the UID in the bound object reference (${text(ref['uid'])}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (ref['uid'] !== pod.metadata.uid) throw refuse(why);
  const podSpec = isObject(pod['spec']) ? pod['spec'] : {};
  if (`system:node:${text(podSpec['nodeName'])}` !== user.name)
    throw refuse('node requested token bound to a pod scheduled on a different node');
  const asked = list(spec['audiences']).map(text);
  if (asked.length > 1) throw refuse('node may only request 0 or 1 audiences');
  const audience = asked[0] ?? '';
  if (!audiencesOf(podSpec).includes(audience))
    throw refuse(
      `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
    );
};

interface NodeWrite extends AdmissionAttributes {
  /** The Node that sends the request. */
  node: string;
  api: LoopbackClient;
}

const getExisting = (api: LoopbackClient, plural: string, namespace: string, name: string): KubeObject => {
  const resource = api.find('', plural);
  const object = resource && api.get(resource, namespace, name);
  if (!object) throw notFound({ group: '', plural, kind: '' }, name);
  return object;
};

const nodeOf = (pod: KubeObject | undefined): string => textOf(fieldsOf(pod?.['spec'])['nodeName']);

/** The problem with a write of a Pod by a Node; undefined if there is none. */
const pod = ({ operation, object, node, api, namespace, name }: NodeWrite): string | undefined => {
  if (operation === 'CREATE' && object)
    return mirrorPodProblem(object, node, () => getExisting(api, 'nodes', '', node).metadata.uid);
  if (operation !== 'DELETE')
    return `unexpected operation "${operation}", node ${JSON.stringify(node)} can only create and delete mirror pods`;
  return nodeOf(getExisting(api, 'pods', namespace, name)) === node
    ? undefined
    : `node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`;
};

/** Go does not distinguish absent from empty. */
const same = (one: unknown, other: unknown): boolean => equal(one ?? {}, other ?? {}) || (empty(one) && empty(other));
const empty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const podStatus = ({ object, old, node }: NodeWrite): string | undefined => {
  const who = `node ${JSON.stringify(node)}`;
  if (nodeOf(old) !== node) return `${who} can only update pod status for pods with spec.nodeName set to itself`;
  if (!same(object?.metadata.labels, old?.metadata.labels)) return `${who} cannot update labels through pod status`;
  const [wanted, before] = [fieldsOf(object?.['status']), fieldsOf(old?.['status'])];
  if (!same(wanted['resourceClaimStatuses'], before['resourceClaimStatuses']))
    return `${who} cannot update resource claim statues`;
  if (!same(wanted['extendedResourceClaimStatus'], before['extendedResourceClaimStatus']))
    return `${who} cannot update extended resource claim status`;
  return undefined;
};

const eviction = ({ namespace, name, node, api }: NodeWrite): string | undefined =>
  nodeOf(getExisting(api, 'pods', namespace, name)) === node
    ? undefined
    : `node ${node} can only evict pods with spec.nodeName set to itself`;

const pods = (asked: NodeWrite): string | undefined => {
  switch (asked.subresource) {
    case '':
      return pod(asked);
    case 'status':
      return podStatus(asked);
    case 'eviction':
      return eviction(asked);
    default:
      return `unexpected pod subresource ${JSON.stringify(asked.subresource)}, only 'status' and 'eviction' are allowed`;
  }
};

/** A Node that changed its own taints, owners or restricted labels could attract Pods that are not meant for it. */
const nodes = ({ operation, name, node, object, old }: NodeWrite): string | undefined => {
  const who = `node ${JSON.stringify(node)}`;
  if (name !== node) return `${who} is not allowed to modify node ${JSON.stringify(name)}`;
  const [wanted, before] = [fieldsOf(object?.['spec']), fieldsOf(old?.['spec'])];
  const labels = forbiddenLabels(object?.metadata.labels, old?.metadata.labels).join(', ');
  if (operation === 'CREATE') {
    if (wanted['configSource'] !== undefined) return `${who} is not allowed to create pods with a non-nil configSource`;
    return labels === '' ? undefined : `${who} is not allowed to set the following labels: ${labels}`;
  }
  if (operation === 'DELETE') return undefined;
  if (wanted['configSource'] !== undefined && !same(wanted['configSource'], before['configSource']))
    return `${who} is not allowed to update configSource to a new non-nil configSource`;
  if (!same(wanted['taints'], before['taints'])) return `${who} is not allowed to modify taints`;
  if (!same(object?.metadata.ownerReferences, old?.metadata.ownerReferences))
    return `${who} is not allowed to modify ownerReferences`;
  return labels === '' ? undefined : `is not allowed to modify labels: ${labels}`;
};

const leases = ({ namespace, name, node }: NodeWrite): string | undefined => {
  if (namespace !== 'kube-node-lease') return 'can only access leases in the "kube-node-lease" system namespace';
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
};

const kubeletSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

const certificates = ({ operation, object, node }: NodeWrite): string | undefined => {
  const { signerName, request } = fieldsOf(object?.['spec']);
  if (operation !== 'CREATE' || !kubeletSigners.includes(textOf(signerName))) return undefined;
  try {
    const { commonName } = parseCertificateRequest(Buffer.from(textOf(request), 'base64').toString('latin1'));
    return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`;
  } catch (error) {
    return `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** By `plural`, or `plural.group` outside the core group. */
const checksByResource = new Map<string, (asked: NodeWrite) => string | undefined>([
  ['pods', pods],
  ['nodes', nodes],
  ['leases.coordination.k8s.io', leases],
  ['certificatesigningrequests.certificates.k8s.io', certificates],
]);

/** NodeRestriction: a Node writes only its own Node object, its Lease and the Pods bound to it, and not every field of them. */
export const assertNodeRestriction = (write: AdmissionAttributes, user: User, api: LoopbackClient): void => {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const { group, plural } = write.resource;
  const why =
    node === ''
      ? `could not determine node from user ${JSON.stringify(user.name)}`
      : checksByResource.get(group === '' ? plural : `${plural}.${group}`)?.({ ...write, node, api });
  if (why === undefined) return;
  throw forbiddenTo(write.resource, write.name || (write.object?.metadata.generateName ?? ''), why);
};
