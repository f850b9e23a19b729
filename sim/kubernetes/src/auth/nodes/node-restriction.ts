import type { Api } from '../../api/api.ts';
import { fieldsOf, textOf } from '../../kinds/fields.ts';
import { equal, type KubeObject } from '../../object.ts';
import { forbiddenTo, notFound } from '../../status/api-error.ts';
import type { Write } from '../admission.ts';
import { parseCertificateRequest } from '../certificate-request.ts';
import type { User } from '../user.ts';
import { mirrorPodProblem } from './mirror-pod.ts';
import { forbiddenLabels } from './node-labels.ts';
import { nodeNameOf } from './node-name.ts';

interface Asked extends Write {
  /** The Node that asks. */
  node: string;
  api: Api;
}

const stands = (api: Api, plural: string, namespace: string, name: string): KubeObject => {
  const resource = api.find('', plural);
  const object = resource && api.get(resource, namespace, name);
  if (!object) throw notFound({ group: '', plural, kind: '' }, name);
  return object;
};

const nodeOf = (pod: KubeObject | undefined): string => textOf(fieldsOf(pod?.['spec'])['nodeName']);

/** The problem with a write of a Pod by a Node; undefined if there is none. */
const pod = ({ operation, object, node, api, namespace, name }: Asked): string | undefined => {
  if (operation === 'CREATE' && object)
    return mirrorPodProblem(object, node, () => stands(api, 'nodes', '', node).metadata.uid);
  if (operation !== 'DELETE')
    return `unexpected operation "${operation}", node ${JSON.stringify(node)} can only create and delete mirror pods`;
  return nodeOf(stands(api, 'pods', namespace, name)) === node
    ? undefined
    : `node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`;
};

/** What Go does not tell apart: nothing, and nothing in it. */
const same = (one: unknown, other: unknown): boolean => equal(one ?? {}, other ?? {}) || (empty(one) && empty(other));
const empty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const podStatus = ({ object, old, node }: Asked): string | undefined => {
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

const eviction = ({ namespace, name, node, api }: Asked): string | undefined =>
  nodeOf(stands(api, 'pods', namespace, name)) === node
    ? undefined
    : `node ${node} can only evict pods with spec.nodeName set to itself`;

const pods = (asked: Asked): string | undefined => {
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

/** A Node that changed its own taints, owners or foreign labels could draw work to itself that is not meant for it. */
const nodes = ({ operation, name, node, object, old }: Asked): string | undefined => {
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

const leases = ({ namespace, name, node }: Asked): string | undefined => {
  if (namespace !== 'kube-node-lease') return 'can only access leases in the "kube-node-lease" system namespace';
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
};

const kubeletSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

const certificates = ({ operation, object, node }: Asked): string | undefined => {
  const { signerName, request } = fieldsOf(object?.['spec']);
  if (operation !== 'CREATE' || !kubeletSigners.includes(textOf(signerName))) return undefined;
  try {
    const { commonName } = parseCertificateRequest(Buffer.from(textOf(request), 'base64').toString('latin1'));
    return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`;
  } catch (error) {
    return `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** By `plural`, or `plural.group` outside the core group. serviceaccounts/token: node-token-request.ts. */
const judges = new Map<string, (asked: Asked) => string | undefined>([
  ['pods', pods],
  ['nodes', nodes],
  ['leases.coordination.k8s.io', leases],
  ['certificatesigningrequests.certificates.k8s.io', certificates],
]);

/** NodeRestriction: a Node writes itself, its Lease and the Pods that are bound to it, and of those not everything. */
export const assertNodeKeepsToItself = (write: Write, user: User, api: Api): void => {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const { group, plural } = write.resource;
  const why =
    node === ''
      ? `could not determine node from user ${JSON.stringify(user.name)}`
      : judges.get(group === '' ? plural : `${plural}.${group}`)?.({ ...write, node, api });
  if (why === undefined) return;
  throw forbiddenTo(write.resource, write.name || (write.object?.metadata.generateName ?? ''), why);
};
