import type { Attributes, Authorizer } from './authorizer.ts';

interface Right {
  readonly group: string;
  /** `nodes`, `nodes/status`. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** What else must hold for the Node of this name. */
  readonly only?: (attributes: Attributes, nodeName: string) => boolean;
}

const itsOwn = ({ name }: Attributes, nodeName: string): boolean => name === nodeName;
/** The name of what is created stands in the body, which is admission's matter and not looked at here. */
const itsOwnOrNew = (attributes: Attributes, nodeName: string): boolean =>
  attributes.verb === 'create' || itsOwn(attributes, nodeName);

/** The role `system:node-bootstrapper`. */
const requests: Right = {
  group: 'certificates.k8s.io',
  resources: ['certificatesigningrequests'],
  verbs: ['create', 'get', 'list', 'watch'],
};

/** What the Node authorizer and NodeRestriction leave to a Node, as far as it was tried on the real server. */
const rightsOfNodes: readonly Right[] = [
  requests,
  {
    group: '',
    resources: ['nodes', 'nodes/status'],
    verbs: ['create', 'get', 'update', 'patch'],
    only: itsOwnOrNew,
  },
  {
    group: '',
    resources: ['nodes'],
    verbs: ['list', 'watch'],
    only: ({ fieldSelector }, nodeName) => fieldSelector === `metadata.name=${nodeName}`,
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create', 'get', 'update', 'patch', 'delete'],
    only: (attributes, nodeName) => attributes.namespace === 'kube-node-lease' && itsOwnOrNew(attributes, nodeName),
  },
  {
    group: '',
    resources: ['pods'],
    verbs: ['list', 'watch'],
    only: ({ fieldSelector }, nodeName) => fieldSelector === `spec.nodeName=${nodeName}`,
  },
  { group: '', resources: ['pods'], verbs: ['get', 'delete'] },
  { group: '', resources: ['pods/status'], verbs: ['update', 'patch'] },
  { group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

const covers = (right: Right, attributes: Attributes, nodeName: string): boolean => {
  const { group, resource, subresource, verb } = attributes;
  return (
    right.group === group &&
    right.resources.includes(subresource === '' ? resource : `${resource}/${subresource}`) &&
    right.verbs.includes(verb) &&
    (right.only?.(attributes, nodeName) ?? true)
  );
};

/** Nodes and those who want to become one may do what such may do; everybody else may do everything. */
export const nodeAuthorizer: Authorizer = (attributes) => {
  const { groups, name } = attributes.user;
  const allow = (rights: readonly Right[], nodeName: string) => ({
    allowed: rights.some((right) => covers(right, attributes, nodeName)),
    reason: '',
  });
  if (groups.includes('system:nodes')) return allow(rightsOfNodes, name.replace(/^system:node:/, ''));
  if (groups.includes('system:bootstrappers')) return allow([requests], '');
  return { allowed: true, reason: '' };
};
