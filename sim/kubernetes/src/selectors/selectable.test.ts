import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../status/api-error.ts';
import { parseFieldSelector } from './fields.ts';
import { assertSelectable } from './selectable.ts';

const common = ['metadata.name', 'metadata.namespace'];

const cases: [string, string, string, string | undefined][] = [
  ['v1', 'Pod', 'metadata.namespace=x', undefined],
  ['v1', 'Pod', 'foo=x', 'field label not supported: foo'],
  ['v1', 'Pod', 'foo!=x,bar=y', 'field label not supported: bar'],
  ['v1', 'Node', 'metadata.namespace=x', 'field label not supported: metadata.namespace'],
  ['v1', 'Namespace', 'metadata.namespace=x', 'field label not supported: metadata.namespace'],
  ['v1', 'Namespace', '=x', 'field label not supported: '],
  ['events.k8s.io/v1', 'Event', 'foo=x', 'field label not supported: foo'],
  ['v1', 'ConfigMap', 'foo=x', '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['apps/v1', 'Deployment', 'foo=x', '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'metadata.namespace=x', undefined],
  ['example.com/v1', 'Widget', 'foo=x', 'field label not supported: foo'],
  ['cluster.x-k8s.io/v1beta2', 'Machine', 'foo=x', 'field label not supported: foo'],
];

for (const [apiVersion, kind, selector, message] of cases) {
  test(`${kind} of ${apiVersion} ${message ? 'cannot' : 'can'} be selected by ${selector}`, () => {
    const check = (): void => assertSelectable(parseFieldSelector(selector), common, apiVersion, kind);
    if (message === undefined) check();
    else assert.throws(check, (error) => error instanceof ApiError && error.code === 400 && error.message === message);
  });
}

test('the fields of an object are as good as a list of names', () => {
  const requirements = parseFieldSelector('spec.nodeName=x');
  assertSelectable(requirements, { 'spec.nodeName': '' }, 'v1', 'Pod');
  assert.throws(() => assertSelectable(requirements, { 'spec.other': '' }, 'v1', 'Pod'), ApiError);
});
