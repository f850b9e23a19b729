import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { parseRequestInfo, type RequestInfo } from './request-info.ts';

const nothing: RequestInfo = {
  group: '',
  version: 'v1',
  namespace: '',
  plural: '',
  name: '',
  subresource: '',
  rest: '',
};

const rows: [path: string, route: Partial<RequestInfo> | undefined][] = [
  ['/', undefined],
  ['/version', undefined],
  ['/api', undefined],
  ['/api/v1', undefined],
  ['/api/v1/', undefined],
  ['/apis/apps/v1', undefined],
  ['/api/v1/pods', { plural: 'pods' }],
  ['/api/v1/nodes/mac-1', { plural: 'nodes', name: 'mac-1' }],
  ['/api/v1/nodes/mac-1/proxy/a/b', { plural: 'nodes', name: 'mac-1', subresource: 'proxy', rest: 'a/b' }],
  ['/api/v1/namespaces', { plural: 'namespaces' }],
  ['/api/v1/namespaces/x', { plural: 'namespaces', name: 'x' }],
  ['/api/v1/namespaces/x/status', { plural: 'namespaces', name: 'x', subresource: 'status' }],
  ['/api/v1/namespaces/x/finalize', { plural: 'namespaces', name: 'x', subresource: 'finalize' }],
  ['/api/v1/namespaces/x/pods', { namespace: 'x', plural: 'pods' }],
  ['/api/v1/namespaces/x/pods/p/log', { namespace: 'x', plural: 'pods', name: 'p', subresource: 'log' }],
  [
    '/apis/g.io/v2/namespaces/x/things/a%2Fb',
    { group: 'g.io', version: 'v2', namespace: 'x', plural: 'things', name: 'a/b' },
  ],
];

for (const [path, route] of rows) {
  test(`${path} ${route ? 'names a resource' : 'names no resource'}`, () => {
    assert.deepEqual(parseRequestInfo(path), route && { ...nothing, ...route });
  });
}

test('no path throws anything but an ApiError', () => {
  fc.assert(
    fc.property(fc.string(), (tail) => {
      try {
        parseRequestInfo(`/api/v1/${tail}`);
      } catch (error) {
        assert.ok(error instanceof ApiError && error.code === 400);
      }
    }),
  );
});
