import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attributes } from './authorizer.ts';
import { nodeAuthorizer } from './node-authorizer.ts';

const node = { name: 'system:node:mac-1', groups: ['system:nodes', 'system:authenticated'] };
const joining = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:bootstrappers:tartan'] };
const admin = { name: 'admin', groups: ['system:masters'] };

const asks = (user: Attributes['user'], verb: string, resource: string, more: Partial<Attributes> = {}): boolean => {
  const [plural = '', subresource = ''] = resource.split('/');
  const attributes: Attributes = {
    user,
    verb,
    group: '',
    version: 'v1',
    resource: plural,
    subresource,
    namespace: '',
    name: '',
    fieldSelector: '',
    labelSelector: '',
    ...more,
  };
  return nodeAuthorizer(attributes).allowed;
};
const lease = { group: 'coordination.k8s.io', namespace: 'kube-node-lease' };
const certificates = { group: 'certificates.k8s.io' };

const table: [string, boolean, boolean][] = [
  ['a Node creates a Node', asks(node, 'create', 'nodes'), true],
  ['a Node changes its status', asks(node, 'patch', 'nodes/status', { name: 'mac-1' }), true],
  ['a Node touches another Node', asks(node, 'patch', 'nodes', { name: 'mac-2' }), false],
  ['a Node deletes itself', asks(node, 'delete', 'nodes', { name: 'mac-1' }), false],
  ['a Node renews its Lease', asks(node, 'update', 'leases', { ...lease, name: 'mac-1' }), true],
  ['a Node renews the Lease of another', asks(node, 'update', 'leases', { ...lease, name: 'mac-2' }), false],
  ['a Node takes a lead', asks(node, 'update', 'leases', { ...lease, namespace: 'x', name: 'mac-1' }), false],
  ['a Node lists Secrets', asks(node, 'list', 'secrets'), false],
  ['a Node lists all Pods', asks(node, 'list', 'pods'), false],
  ['a Node lists its Pods', asks(node, 'list', 'pods', { fieldSelector: 'spec.nodeName=mac-1' }), true],
  ['a Node asks for a certificate', asks(node, 'create', 'certificatesigningrequests', certificates), true],
  [
    'a Node gets it without being asked',
    asks(node, 'create', 'certificatesigningrequests/selfnodeclient', certificates),
    false,
  ],
  ['who joins asks for a certificate', asks(joining, 'create', 'certificatesigningrequests', certificates), true],
  ['who joins creates a Node', asks(joining, 'create', 'nodes'), false],
  ['everybody else does what they like', asks(admin, 'list', 'secrets'), true],
];

for (const [what, allowed, expected] of table) {
  test(`${what}: ${expected ? 'allowed' : 'refused'}`, () => assert.equal(allowed, expected));
}
