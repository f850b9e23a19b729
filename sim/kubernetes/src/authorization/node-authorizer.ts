import { nodeNameOf } from '../authentication/user.ts';
import type { KubeObject } from '../object.ts';
import { parseFieldSelector } from '../selectors/field-selector.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { fieldsOf, textOf } from '../unstructured.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { podReferences } from './pod-references.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';

type Related = 'pods' | 'secrets' | 'configmaps' | 'serviceaccounts';

/** The objects that the Pods of a Node reference. A Node may read only those. */
interface NodeGraph {
  related(node: string, kind: Related, namespace: string, name: string): boolean;
  stop(): void;
}

export const mirrorAnnotation = 'kubernetes.io/config.mirror';

const nodeOfPod = (pod: KubeObject | undefined): string => textOf(fieldsOf(pod?.['spec'])['nodeName']);

/** A Node creates its mirror Pods itself, so they must not give it access to anything. */
const neededBy = (pod: KubeObject): string[] => {
  const { name, namespace = '', annotations = {} } = pod.metadata;
  const key = (kind: Related, of: string): string => `${kind}/${namespace}/${of}`;
  if (Object.hasOwn(annotations, mirrorAnnotation)) return [key('pods', name)];
  const { secrets, configMaps, serviceAccounts } = podReferences(pod);
  return [
    key('pods', name),
    ...secrets.map((each) => key('secrets', each)),
    ...configMaps.map((each) => key('configmaps', each)),
    ...serviceAccounts.map((each) => key('serviceaccounts', each)),
  ];
};

/** The references of a bound Pod never change, so only creation, binding and deletion count. */
export const nodeGraph = (api: LoopbackClient): NodeGraph => {
  /** By `node/kind/namespace/name`: how many Pods there reference it. */
  const needs = new Map<string, number>();
  const count = (pod: KubeObject, by: 1 | -1): void => {
    for (const each of neededBy(pod)) {
      const key = `${nodeOfPod(pod)}/${each}`;
      const left = (needs.get(key) ?? 0) + by;
      if (left > 0) needs.set(key, left);
      else needs.delete(key);
    }
  };
  const pods = api.find('', 'pods');
  if (pods) for (const pod of api.list(pods, '')) if (nodeOfPod(pod) !== '') count(pod, 1);
  const stop = pods
    ? api.subscribe(pods, ({ object, previous }) => {
        if (object && previous && nodeOfPod(object) === nodeOfPod(previous)) return;
        if (previous && nodeOfPod(previous) !== '') count(previous, -1);
        if (object && nodeOfPod(object) !== '') count(object, 1);
      })
    : () => {};
  return { related: (node, kind, namespace, name) => needs.has(`${node}/${kind}/${namespace}/${name}`), stop };
};

const allowed: Decision = { allowed: true, reason: '' };
const refused = (reason: string): Decision => ({ allowed: false, reason });

interface NodeRequest extends Attributes {
  node: string;
  graph: NodeGraph;
}

const related = ({ node, graph, namespace, name }: NodeRequest, kind: Related): Decision => {
  if (name === '') return refused('No Object name found');
  if (graph.related(node, kind, namespace, name)) return allowed;
  return refused(`no relationship found between node '${node}' and this object`);
};

const read =
  (kind: 'secrets' | 'configmaps' | 'serviceaccounts') =>
  (asked: NodeRequest): Decision => {
    if (!['get', 'list', 'watch'].includes(asked.verb)) return refused('can only read resources of this type');
    if (asked.subresource !== '') return refused('cannot read subresource');
    if (asked.namespace === '') return refused('can only read namespaced object of this type');
    return related(asked, kind);
  };

const serviceAccounts = (asked: NodeRequest): Decision => {
  const { verb, name, subresource } = asked;
  if (verb === 'get' && subresource === '') return read('serviceaccounts')(asked);
  if (verb !== 'create' || name === '') return refused('can only create tokens for individual service accounts');
  if (subresource !== 'token') return refused('can only create token subresource of serviceaccount');
  return related(asked, 'serviceaccounts');
};

const leaseNamespace = 'kube-node-lease';

const leases = ({ verb, namespace, name, node }: NodeRequest): Decision => {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb))
    return refused('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace)
    return refused(`can only access leases in the "${leaseNamespace}" system namespace`);
  // On create the name is in the body, which admission checks.
  if (verb !== 'create' && name !== node)
    return refused('can only access node lease with the same name as the requesting node');
  return allowed;
};

/** Admission checks which Node is written: the name of a new one is in the body. */
const nodes = ({ verb, subresource, name, node }: NodeRequest): Decision => {
  const writes = subresource === '' ? ['create', 'update', 'patch'] : ['update', 'patch'];
  if (!['', 'status'].includes(subresource)) return refused('');
  if (writes.includes(verb)) return allowed;
  if (subresource !== '' || !['get', 'list', 'watch'].includes(verb)) return refused('');
  if (name === node) return allowed;
  if (name === '') return refused(`node '${node}' cannot read all nodes, only its own Node object`);
  return refused(`node '${node}' cannot read '${name}', only its own Node object`);
};

const selectsOwn = ({ fieldSelector, node }: NodeRequest): boolean => {
  try {
    return parseFieldSelector(fieldSelector).some(
      ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
    );
  } catch {
    return false;
  }
};

const pods = (asked: NodeRequest): Decision => {
  switch (`${asked.subresource}:${asked.verb}`) {
    case ':get':
      return related(asked, 'pods');
    case ':list':
    case ':watch':
      if (selectsOwn(asked)) return allowed;
      if (asked.name !== '') return related(asked, 'pods');
      return refused('can only list/watch pods with spec.nodeName field selector');
    // Admission checks that the Pods are bound to this Node.
    case ':create':
    case ':delete':
    case 'status:update':
    case 'status:patch':
    case 'eviction:create':
      return allowed;
    default:
      return refused('');
  }
};

/** By `plural`, or `plural.group` outside the core group. */
const rulesByResource = new Map<string, (asked: NodeRequest) => Decision>([
  ['secrets', read('secrets')],
  ['configmaps', read('configmaps')],
  ['serviceaccounts', serviceAccounts],
  ['leases.coordination.k8s.io', leases],
  ['nodes', nodes],
  ['pods', pods],
]);

/**
 * The rights of a Node: on some kinds only its own objects, on others what `rules` (the role `system:node`) grant. Has no opinion about
 * other users. Ignores volumes and devices, which this server does not serve.
 */
export const nodeAuthorizer =
  (graph: NodeGraph, rules: readonly PolicyRule[]): Authorizer =>
  (attributes) => {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return refused('');
    if (node === '') return refused(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const { group, resource, nonResourcePath } = attributes;
    const judge = rulesByResource.get(group === '' ? resource : `${resource}.${group}`);
    if (judge && nonResourcePath === undefined) return judge({ ...attributes, node, graph });
    return rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : refused('');
  };
