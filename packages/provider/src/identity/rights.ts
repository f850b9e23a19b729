import { type ExplainedRule, policyRule as rule, type PolicyRules } from '@tartan/kube';
import { joinGroup, kubeletClientSigner, kubeletServingSigner, tokenNamespace } from './names.ts';

const certificates = 'certificates.k8s.io';

/**
 * All permissions that this folder needs.
 * In `kube-system` Secrets are created and deleted by name, and never read: no get, list, watch, update or patch. RBAC has no name
 * prefixes, so `delete` covers every Secret there; without it a used token would stay valid until it expires.
 */
export const identityRights: PolicyRules<ExplainedRule> = {
  clusterWide: [
    rule(
      certificates,
      'certificatesigningrequests',
      ['list', 'watch'],
      'to see which Mac asks for a certificate, and whether it got one',
    ),
    rule(certificates, 'certificatesigningrequests/approval', ['update'], 'to approve or deny what a Mac asks for'),
    rule(
      certificates,
      `signers ${kubeletClientSigner} ${kubeletServingSigner}`,
      ['approve'],
      'the same: certificates of Nodes, and of no other kind',
    ),
  ],
  inNamespace: {
    [tokenNamespace]: [
      rule('', 'secrets', ['create', 'delete'], 'the token with which a Mac joins once. Never to read one'),
    ],
    'kube-public': [
      rule('', 'configmaps cluster-info', ['get'], 'to tell Macs where the API server is, without `--api-server-url`'),
    ],
    'kube-node-lease': [
      rule(
        'coordination.k8s.io',
        'leases',
        ['get'],
        'to see that a Mac has joined with a certificate: then its token goes',
      ),
    ],
  },
};

/**
 * What holders of our tokens need: to create a certificate request and to read its result. Kubernetes has that role by default. The group
 * must not be bound to `system:certificates.k8s.io:certificatesigningrequests:nodeclient`: the controller manager would then approve any
 * name that a token asks for, before our approver.
 */
export const joinBinding = { clusterRole: 'system:node-bootstrapper', group: joinGroup } as const;

/** A permission of a Mac. */
export interface MacRight {
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The objects that it is limited to. */
  readonly of: string;
  readonly for: string;
}

/**
 * The permissions of every Node (Node authorizer and NodeRestriction) that the agent uses, without a role of ours. So a Mac needs no
 * binding, and one Mac can do nothing to another. test/kubernetes/mac-rights.test.ts tests each, and its opposite.
 */
export const macRights = {
  itsNode: {
    resource: 'nodes, nodes/status',
    verbs: ['create', 'get', 'list', 'watch', 'patch'],
    of: 'the Node of its own name. Its taints and its providerID are set when it is made, and not again',
    for: 'to register, and to say how the Mac is',
  },
  itsLease: {
    resource: 'leases (coordination.k8s.io)',
    verbs: ['get', 'create', 'update'],
    of: 'that of its own name in `kube-node-lease`',
    for: 'its heartbeat',
  },
  itsPods: {
    resource: 'pods',
    verbs: ['get', 'list', 'watch', 'delete'],
    of: 'those on its Node. Lists must select them',
    for: 'to run them, and to end those whose time is over',
  },
  statusOfItsPods: {
    resource: 'pods/status',
    verbs: ['patch'],
    of: 'those on its Node. It cannot write the Pod itself',
    for: 'phase, result, finalizer and annotations',
  },
  secretsOfItsPods: {
    resource: 'secrets, configmaps',
    verbs: ['get'],
    of: 'those that a Pod on its Node names. None can be listed',
    for: 'variables of virtual machines, and registries that ask for a password',
  },
  tokensOfItsPods: {
    resource: 'serviceaccounts/token',
    verbs: ['create'],
    of: 'the ServiceAccount of a Pod on its Node, bound to that Pod, and for audiences that a projected volume of it names',
    for: 'tokens that a Pod asks for',
  },
  certificates: {
    resource: 'certificatesigningrequests (certificates.k8s.io)',
    verbs: ['create', 'get', 'list', 'watch'],
    of: 'any. What it asks for is approved for its own name only, while its machine holds it and the Node of that name is this Mac',
    for: 'its next certificate, and the one that it serves logs and exec with',
  },
  reviews: {
    resource: 'tokenreviews (authentication.k8s.io), subjectaccessreviews (authorization.k8s.io)',
    verbs: ['create'],
    of: 'any: they ask, and change nothing',
    for: 'to check who asks for logs or exec',
  },
  events: {
    resource: 'events',
    verbs: ['create', 'patch'],
    of: 'any namespace',
    for: 'to tell what became of Pods',
  },
} as const satisfies Record<string, MacRight>;

/** What the token of a joining Mac allows, by the role `system:node-bootstrapper`. The token is deleted after its use. */
export const joinRights: readonly MacRight[] = [
  {
    resource: 'certificatesigningrequests (certificates.k8s.io)',
    verbs: ['create', 'get', 'list', 'watch'],
    of: 'any. What it asks for is approved for the Node of the one machine that the token was made for, unless a Node of somebody else has that name',
    for: 'its first certificate',
  },
];
