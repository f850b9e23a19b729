import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequestInfo } from '../endpoints/request-info.ts';
import type { ApiRequest } from '../http-messages.ts';
import type { Attributes } from './authorizer.ts';
import { attributesOf, forbiddenError } from './request-attributes.ts';

const user = { name: 'jane', groups: [] };

const asked = (method: string, target: string): Attributes => {
  const url = new URL(target, 'https://server');
  const request: ApiRequest = {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  };
  return attributesOf(request, parseRequestInfo(url.pathname), user);
};

/** `verb resource/subresource.group namespace/name`. */
const said = (method: string, target: string): string => {
  const { verb, resource, subresource, group, namespace, name, nonResourcePath } = asked(method, target);
  if (nonResourcePath !== undefined) return `${verb} ${nonResourcePath}`;
  return `${verb} ${resource}/${subresource}.${group} ${namespace}/${name}`;
};

describe('the attributes of a request', () => {
  const table: [string, string, string][] = [
    ['GET', '/api/v1/pods', 'list pods/. /'],
    ['GET', '/api/v1/namespaces/n/pods?watch=1', 'watch pods/. n/'],
    ['GET', '/api/v1/namespaces/n/pods?watch=false', 'list pods/. n/'],
    ['GET', '/api/v1/namespaces/n/pods/p', 'get pods/. n/p'],
    ['HEAD', '/api/v1/namespaces/n/pods/p', 'get pods/. n/p'],
    ['GET', '/api/v1/namespaces/n/pods/p/exec', 'get pods/exec. n/p'],
    ['POST', '/api/v1/namespaces/n/pods/p/exec', 'create pods/exec. n/p'],
    ['PUT', '/apis/apps/v1/namespaces/n/deployments/d/scale', 'update deployments/scale.apps n/d'],
    ['PATCH', '/api/v1/nodes/a/status', 'patch nodes/status. /a'],
    ['DELETE', '/api/v1/namespaces/n/pods', 'deletecollection pods/. n/'],
    ['DELETE', '/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Dp', 'deletecollection pods/. n/'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Da', 'list nodes/. /a'],
    ['GET', '/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Da', 'watch nodes/. /a'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name!%3Da', 'list nodes/. /'],
    ['GET', '/api/v1/nodes?fieldSelector=nonsense', 'list nodes/. /'],
    ['GET', '/api/v1/namespaces', 'list namespaces/. /'],
    ['GET', '/api/v1/namespaces/n', 'get namespaces/. n/n'],
    ['PUT', '/api/v1/namespaces/n/finalize', 'update namespaces/finalize. n/n'],
    ['GET', '/metrics', 'get /metrics'],
    ['POST', '/apis', 'post /apis'],
  ];
  for (const [method, target, expected] of table)
    it(`${method} ${target}: ${expected}`, () => assert.equal(said(method, target), expected));
});

describe('a Forbidden error', () => {
  it('names user, verb, resource and namespace', () => {
    const { status } = forbiddenError(asked('GET', '/apis/apps/v1/namespaces/n/deployments/d'), 'because');
    assert.equal(
      status.message,
      'deployments.apps "d" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "n": because',
    );
    assert.deepEqual(status.details, { name: 'd', group: 'apps', kind: 'deployments' });
  });

  it('of a path names only the path', () => {
    const { status } = forbiddenError(asked('GET', '/metrics'), '');
    assert.equal(status.message, 'forbidden: User "jane" cannot get path "/metrics"');
    assert.deepEqual(status.details, {});
  });

  it('is escaped for browsers', () => {
    const { status } = forbiddenError({ ...asked('GET', '/x'), nonResourcePath: '/<b>&' }, '');
    assert.equal(status.message, 'forbidden: User "jane" cannot get path "/&lt;b&gt;&amp;"');
  });
});
