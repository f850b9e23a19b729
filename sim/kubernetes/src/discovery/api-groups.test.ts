import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareVersions, groupsOf } from './api-groups.ts';
import { served, widget } from './testing/served-resources.ts';

const ordered = [
  'v10',
  'v2',
  'v1',
  'v11beta2',
  'v10beta3',
  'v3beta1',
  'v12alpha1',
  'v11alpha2',
  'foo1',
  'foo10',
  'v01',
];

test('versions are ordered by stability, then by number; others come last', () => {
  assert.deepEqual([...ordered].sort(compareVersions), ordered);
  assert.deepEqual([...ordered].reverse().sort(compareVersions), ordered);
});

test('the order of versions is a total order', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(ordered), (some) => {
      assert.deepEqual(
        [...some].sort(compareVersions),
        ordered.filter((version) => some.includes(version)),
      );
    }),
  );
});

test('built-in groups are ordered by priority, custom ones follow by name', () => {
  const names = groupsOf([{ ...widget('v1'), group: 'a.example' }, ...served]).map(({ name }) => name);
  assert.deepEqual(names, [
    '',
    'apps',
    'events.k8s.io',
    'authentication.k8s.io',
    'authorization.k8s.io',
    'certificates.k8s.io',
    'rbac.authorization.k8s.io',
    'apiextensions.k8s.io',
    'coordination.k8s.io',
    'a.example',
    'example.com',
  ]);
});

test('the input is not mutated', () => {
  const given = [...served];
  groupsOf(given);
  assert.deepEqual(
    given.map(({ plural }) => plural),
    served.map(({ plural }) => plural),
  );
});
