import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catalogue } from '../generated/catalogue.ts';
import { fixture, namespace } from './testing/fixture.ts';

const cluster = fixture();

describe('the built-in kinds', () => {
  it('are those of the real server', () => {
    const pods = cluster.resource('pods');
    assert.deepEqual(
      [pods.kind, pods.listKind, pods.singular, pods.shortNames, pods.categories, pods.namespaced, pods.custom],
      ['Pod', 'PodList', 'pod', ['po'], ['all'], true, false],
    );
    assert.ok(pods.verbs.includes('deletecollection'));
  });

  it('are complete for the catalogue', () => {
    const listed = catalogue.groups.flatMap(({ group, resources }) =>
      resources.filter(({ name }) => !name.includes('/')).map(({ name }) => (group === '' ? name : `${name}.${group}`)),
    );
    const missing = listed.filter((key) => {
      const [plural = '', ...group] = key.split('.');
      return cluster.api.find(group.join('.'), plural) === undefined;
    });
    assert.deepEqual(missing, []);
  });

  it('have subresources of their own kinds', () => {
    const eviction = cluster.resource('pods').subresources.find(({ name }) => name === 'eviction');
    assert.deepEqual(
      [eviction?.group, eviction?.version, eviction?.kind, eviction?.verbs],
      ['policy', 'v1', 'Eviction', ['create']],
    );
    assert.ok(eviction?.schema);
    const views = cluster
      .resource('namespaces')
      .subresources.map(({ name, view, action }) => [name, Boolean(view), Boolean(action)]);
    assert.deepEqual(views, [
      ['finalize', true, false],
      ['status', false, false],
    ]);
  });

  it('are registered by group and plural, both kinds of events together', () => {
    assert.equal(cluster.resource('leases.coordination.k8s.io').prefix, 'coordination.k8s.io/leases/');
    assert.equal(cluster.resource('pods').prefix, 'core/pods/');
    assert.equal(cluster.resource('events.events.k8s.io').prefix, cluster.resource('events').prefix);
  });

  it('are canonicalized before their own defaults', () => {
    const made = cluster.create('serviceaccounts', {
      metadata: { name: 'x', labels: {}, annotations: { a: null } },
      secrets: [],
      automountServiceAccountToken: false,
    });
    assert.deepEqual(made, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {
        name: 'x',
        namespace,
        uid: made.metadata.uid,
        resourceVersion: made.metadata.resourceVersion,
        creationTimestamp: '2026-01-01T00:00:00Z',
        annotations: { a: '' },
      },
      automountServiceAccountToken: false,
    });
  });
});
