import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCluster } from '../testing/test-cluster.ts';
import { testResource } from '../../testing/test-resource.ts';
import { watch, watchAll } from './watch.ts';

test('a watch yields existing objects, changes and deletions, and nothing after its end', () => {
  const cluster = testCluster();
  cluster.create('nodes', 'm1');
  const seen: string[] = [];
  const stop = watch(cluster.api, '', 'nodes', (current, previous) => {
    seen.push(`${previous?.metadata.name ?? '-'} > ${current?.metadata.name ?? '-'}`);
  });
  cluster.create('nodes', 'm2');
  cluster.edit('nodes', 'm2', (node) => (node.metadata.labels = { a: 'b' }));
  cluster.delete('nodes', 'm2');
  stop();
  cluster.create('nodes', 'm3');
  assert.deepEqual(seen, ['- > m1', '- > m2', 'm2 > m2', 'm2 > -']);
});

test('a watch of an unknown kind yields nothing', () => {
  watch(testCluster().api, 'x.dev', 'machines', () => assert.fail())();
});

test('a watch of all kinds includes kinds defined later, if they pass its filter', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  const seen: string[] = [];
  const stop = watchAll(
    cluster.api,
    ({ plural }) => plural === 'machines' || plural === 'secrets',
    ({ kind }, current) => seen.push(`${kind} ${current?.metadata.name}`),
  );
  cluster.define(testResource('machines', 'Machine', { group: 'x.dev', custom: true }));
  cluster.create('machines', 'a/early');
  assert.deepEqual(seen, []);
  cluster.clock.advance(0);
  cluster.create('machines', 'a/late');
  cluster.create('secrets', 'a/s');
  cluster.create('configmaps', 'a/c');
  assert.deepEqual(seen, ['Machine early', 'Machine late', 'Secret s']);
  stop();
  cluster.create('secrets', 'a/unseen');
  cluster.create('machines', 'a/unseen');
  cluster.clock.advance(600_000);
  assert.equal(seen.length, 3);
});
