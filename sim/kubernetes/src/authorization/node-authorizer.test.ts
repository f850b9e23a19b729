import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fakeApi } from '../store/testing/fake-api.ts';
import type { Attributes, Decision } from './authorizer.ts';
import { nodeRules } from './bootstrap-policy.ts';
import { nodeAuthorizer, nodeGraph } from './node-authorizer.ts';

const node = { name: 'system:node:mac-1', groups: ['system:nodes', 'system:authenticated'] };
const api = fakeApi();
api.put('pods', {
  metadata: { name: 'p', namespace: 'n' },
  spec: {
    nodeName: 'mac-1',
    serviceAccountName: 'a',
    imagePullSecrets: [{ name: 's' }],
    volumes: [{ configMap: { name: 'c' } }],
  },
});
const authorize = nodeAuthorizer(nodeGraph(api), nodeRules);

const asks = (verb: string, resource: string, more: Partial<Attributes> = {}, user = node): Decision => {
  const [plural = '', subresource = ''] = resource.split('/');
  return authorize({
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
  });
};

const lease = { group: 'coordination.k8s.io', namespace: 'kube-node-lease' };
const certificates = { group: 'certificates.k8s.io' };
const in_n = (name: string) => ({ namespace: 'n', name });
const nothing = '';
const unrelated = "no relationship found between node 'mac-1' and this object";

describe('requests of a Node that are allowed', () => {
  const allowed: [string, string, Partial<Attributes>?][] = [
    ['create', 'nodes'],
    ['get', 'nodes', { name: 'mac-1' }],
    ['watch', 'nodes', { name: 'mac-1' }],
    ['patch', 'nodes', { name: 'mac-2' }],
    ['patch', 'nodes/status', { name: 'mac-1' }],
    ['update', 'leases', { ...lease, name: 'mac-1' }],
    ['create', 'leases', lease],
    ['list', 'pods', { fieldSelector: 'spec.nodeName=mac-1' }],
    ['watch', 'pods', { fieldSelector: 'metadata.namespace=n,spec.nodeName=mac-1' }],
    ['get', 'pods', in_n('p')],
    ['list', 'pods', in_n('p')],
    ['delete', 'pods', in_n('q')],
    ['create', 'pods', { namespace: 'n' }],
    ['patch', 'pods/status', in_n('q')],
    ['create', 'pods/eviction', in_n('q')],
    ['get', 'secrets', in_n('s')],
    ['watch', 'secrets', in_n('s')],
    ['get', 'configmaps', in_n('c')],
    ['get', 'serviceaccounts', in_n('a')],
    ['create', 'serviceaccounts/token', in_n('a')],
    ['create', 'certificatesigningrequests', certificates],
    ['create', 'events', { namespace: 'n' }],
    ['create', 'tokenreviews', { group: 'authentication.k8s.io' }],
    ['create', 'subjectaccessreviews', { group: 'authorization.k8s.io' }],
  ];
  for (const [verb, resource, more] of allowed)
    it(`${verb} ${resource} ${JSON.stringify(more ?? {})}`, () =>
      assert.deepEqual(asks(verb, resource, more), { allowed: true, reason: '' }));
});

describe('requests of a Node that are denied', () => {
  const refused: [string, string, Partial<Attributes>, string][] = [
    ['get', 'nodes', { name: 'mac-2' }, "node 'mac-1' cannot read 'mac-2', only its own Node object"],
    ['list', 'nodes', {}, "node 'mac-1' cannot read all nodes, only its own Node object"],
    ['delete', 'nodes', { name: 'mac-1' }, nothing],
    ['get', 'nodes/status', { name: 'mac-1' }, nothing],
    ['create', 'nodes/proxy', { name: 'mac-1' }, nothing],
    [
      'update',
      'leases',
      { ...lease, name: 'mac-2' },
      'can only access node lease with the same name as the requesting node',
    ],
    ['list', 'leases', lease, 'can only get, create, update, patch, or delete a node lease'],
    [
      'update',
      'leases',
      { ...lease, namespace: 'n', name: 'mac-1' },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    ['list', 'pods', {}, 'can only list/watch pods with spec.nodeName field selector'],
    [
      'list',
      'pods',
      { fieldSelector: 'spec.nodeName!=mac-1' },
      'can only list/watch pods with spec.nodeName field selector',
    ],
    [
      'list',
      'pods',
      { fieldSelector: 'spec.nodeName=mac-1,nonsense' },
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['get', 'pods', in_n('q'), unrelated],
    ['get', 'pods', { namespace: 'm', name: 'p' }, unrelated],
    ['patch', 'pods', in_n('p'), nothing],
    ['get', 'pods/status', in_n('p'), nothing],
    ['create', 'pods/exec', in_n('p'), nothing],
    ['list', 'secrets', {}, 'can only read namespaced object of this type'],
    ['list', 'secrets', { namespace: 'n' }, 'No Object name found'],
    ['get', 'secrets', in_n('other'), unrelated],
    ['get', 'secrets', { namespace: 'm', name: 's' }, unrelated],
    ['delete', 'secrets', in_n('s'), 'can only read resources of this type'],
    ['get', 'secrets/x', in_n('s'), 'cannot read subresource'],
    ['get', 'configmaps', in_n('s'), unrelated],
    ['get', 'serviceaccounts', in_n('other'), unrelated],
    ['create', 'serviceaccounts/token', in_n('other'), unrelated],
    ['delete', 'serviceaccounts', in_n('a'), 'can only create tokens for individual service accounts'],
    ['create', 'serviceaccounts', in_n('a'), 'can only create token subresource of serviceaccount'],
    ['create', 'certificatesigningrequests/selfnodeclient', certificates, nothing],
    ['list', 'namespaces', {}, nothing],
  ];
  for (const [verb, resource, more, reason] of refused)
    it(`${verb} ${resource} ${JSON.stringify(more)}: ${reason}`, () =>
      assert.deepEqual(asks(verb, resource, more), { allowed: false, reason }));

  it('all, if the user is not in the group of Nodes or has no Node name', () => {
    const stranger = { name: 'system:node:mac-1', groups: ['system:authenticated'] };
    assert.deepEqual(asks('create', 'nodes', {}, stranger), { allowed: false, reason: '' });
    const nameless = { name: 'system:node:', groups: ['system:nodes'] };
    assert.deepEqual(asks('create', 'nodes', {}, nameless), {
      allowed: false,
      reason: 'unknown node for user "system:node:"',
    });
  });

  it('any request has a decision', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('pods', 'secrets', 'nodes', 'leases', 'get', 'list', 'constructor', '__proto__', 'toString'),
    );
    fc.assert(
      fc.property(
        text,
        text,
        fc.record({ group: text, namespace: text, name: text, fieldSelector: text }),
        (verb, resource, more) => {
          const { allowed } = asks(verb, resource, more);
          assert.equal(typeof allowed, 'boolean');
          if (resource === 'secrets' && more.group === '' && more.name !== 's') assert.equal(allowed, false);
        },
      ),
    );
  });
});

describe('objects that the Pods of a Node refer to', () => {
  const pod = (spec: object, metadata: object = {}) => ({ metadata: { name: 'p', namespace: 'n', ...metadata }, spec });
  const on = (nodeName: string) => ({ nodeName, imagePullSecrets: [{ name: 's' }] });

  it('are known from the binding of a Pod until its deletion', () => {
    const cluster = fakeApi();
    cluster.put('pods', pod(on('before')));
    const graph = nodeGraph(cluster);
    const related = (name: string) => graph.related(name, 'secrets', 'n', 's');
    assert.ok(related('before'));
    cluster.put('pods', pod({ imagePullSecrets: [{ name: 's' }] }));
    assert.ok(!related('before') && !related(''));
    cluster.put('pods', pod(on('mac-1')));
    assert.ok(related('mac-1') && !related('mac-2'));
    cluster.put('pods', { ...pod(on('mac-1')), status: { phase: 'Succeeded' } });
    assert.ok(related('mac-1'));
    cluster.put('pods', pod(on('mac-2')));
    assert.ok(!related('mac-1') && related('mac-2'));
    graph.stop();
  });

  it('are counted: those of two Pods are known until the second is deleted', () => {
    const cluster = fakeApi();
    const graph = nodeGraph(cluster);
    for (const name of ['p', 'q']) cluster.put('pods', pod(on('mac-1'), { name }));
    const deletePod = (name: string) => cluster.put('pods', pod(on(''), { name }));
    deletePod('p');
    assert.ok(graph.related('mac-1', 'secrets', 'n', 's'));
    deletePod('q');
    assert.ok(!graph.related('mac-1', 'secrets', 'n', 's'));
  });

  it('are ignored for a mirror Pod, which the Node created itself', () => {
    const cluster = fakeApi();
    const graph = nodeGraph(cluster);
    cluster.put('pods', pod(on('mac-1'), { annotations: { 'kubernetes.io/config.mirror': '' } }));
    assert.ok(!graph.related('mac-1', 'secrets', 'n', 's'));
    assert.ok(graph.related('mac-1', 'pods', 'n', 'p'));
  });
});
