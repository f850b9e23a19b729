import { parseFieldSelector } from '../../selectors/fields.ts';
import type { Attributes, Authorizer, Verdict } from '../authorizer.ts';
import { type PolicyRule, ruleAllows } from '../roles/policy-rule.ts';
import type { NodeGraph, Related } from './node-graph.ts';
import { nodeNameOf } from './node-name.ts';

const allowed: Verdict = { allowed: true, reason: '' };
const refused = (reason: string): Verdict => ({ allowed: false, reason });

interface Asked extends Attributes {
  node: string;
  graph: NodeGraph;
}

const related = ({ node, graph, namespace, name }: Asked, kind: Related): Verdict => {
  if (name === '') return refused('No Object name found');
  if (graph.related(node, kind, namespace, name)) return allowed;
  return refused(`no relationship found between node '${node}' and this object`);
};

const read =
  (kind: 'secrets' | 'configmaps' | 'serviceaccounts') =>
  (asked: Asked): Verdict => {
    if (!['get', 'list', 'watch'].includes(asked.verb)) return refused('can only read resources of this type');
    if (asked.subresource !== '') return refused('cannot read subresource');
    if (asked.namespace === '') return refused('can only read namespaced object of this type');
    return related(asked, kind);
  };

const serviceAccounts = (asked: Asked): Verdict => {
  const { verb, name, subresource } = asked;
  if (verb === 'get' && subresource === '') return read('serviceaccounts')(asked);
  if (verb !== 'create' || name === '') return refused('can only create tokens for individual service accounts');
  if (subresource !== 'token') return refused('can only create token subresource of serviceaccount');
  return related(asked, 'serviceaccounts');
};

const leaseNamespace = 'kube-node-lease';

const leases = ({ verb, namespace, name, node }: Asked): Verdict => {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb))
    return refused('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace)
    return refused(`can only access leases in the "${leaseNamespace}" system namespace`);
  // What is created has its name in the body, which is admission's matter.
  if (verb !== 'create' && name !== node)
    return refused('can only access node lease with the same name as the requesting node');
  return allowed;
};

/** Which Node is written is admission's matter: the name of a new one stands in the body. */
const nodes = ({ verb, subresource, name, node }: Asked): Verdict => {
  const writes = subresource === '' ? ['create', 'update', 'patch'] : ['update', 'patch'];
  if (!['', 'status'].includes(subresource)) return refused('');
  if (writes.includes(verb)) return allowed;
  if (subresource !== '' || !['get', 'list', 'watch'].includes(verb)) return refused('');
  if (name === node) return allowed;
  if (name === '') return refused(`node '${node}' cannot read all nodes, only its own Node object`);
  return refused(`node '${node}' cannot read '${name}', only its own Node object`);
};

const selectsOwn = ({ fieldSelector, node }: Asked): boolean => {
  try {
    return parseFieldSelector(fieldSelector).some(
      ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
    );
  } catch {
    return false;
  }
};

const pods = (asked: Asked): Verdict => {
  switch (`${asked.subresource}:${asked.verb}`) {
    case ':get':
      return related(asked, 'pods');
    case ':list':
    case ':watch':
      if (selectsOwn(asked)) return allowed;
      if (asked.name !== '') return related(asked, 'pods');
      return refused('can only list/watch pods with spec.nodeName field selector');
    // Whose Pods these are is admission's matter.
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
const subdivided = new Map<string, (asked: Asked) => Verdict>([
  ['secrets', read('secrets')],
  ['configmaps', read('configmaps')],
  ['serviceaccounts', serviceAccounts],
  ['leases.coordination.k8s.io', leases],
  ['nodes', nodes],
  ['pods', pods],
]);

/**
 * What a Node may do: of some kinds only what is its own, of others what `rules` (the role `system:node`) say. It has no opinion
 * about anybody else. Volumes and devices are not looked at: nothing here serves them.
 */
export const nodeAuthorizer =
  (graph: NodeGraph, rules: readonly PolicyRule[]): Authorizer =>
  (attributes) => {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return refused('');
    if (node === '') return refused(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const { group, resource, nonResourcePath } = attributes;
    const judge = subdivided.get(group === '' ? resource : `${resource}.${group}`);
    if (judge && nonResourcePath === undefined) return judge({ ...attributes, node, graph });
    return rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : refused('');
  };
