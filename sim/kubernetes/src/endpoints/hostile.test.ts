import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import type { ApiRequest, ApiResponse } from '../http-messages.ts';
import { createKubernetes, type Kubernetes } from '../kubernetes.ts';

/** Every request gets a response: no bug is reported, no request hangs, and every refusal is a Status. */

const admin = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer', default: 1 },
                  tags: { type: 'array', items: { type: 'string' } },
                },
                'x-kubernetes-validations': [{ rule: '!has(self.tags) || self.tags.all(tag, tag.size() < 9)' }],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

const collections = [
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/pods',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/secrets',
  '/api/v1/namespaces/default/events',
  '/api/v1/namespaces/default/serviceaccounts',
  '/apis/events.k8s.io/v1/namespaces/default/events',
  '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/example.com/v1/namespaces/default/things',
];

const word = fc.constantFrom(
  'a',
  'b',
  'default',
  'things.example.com',
  'x y',
  '%',
  '..',
  '__proto__',
  'constructor',
  '',
);
const subresource = fc.constantFrom(
  '',
  '',
  '',
  '/status',
  '/scale',
  '/log',
  '/exec',
  '/binding',
  '/eviction',
  '/token',
  '/approval',
  '/finalize',
);
const path = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom(...collections), fc.boolean(), word, subresource)
      .map(([base, named, name, sub]) => (named ? `${base}/${name}${sub}` : base)),
  },
  { weight: 1, arbitrary: fc.string().map((text) => `/${text}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/', '/version', '/api', '/apis', '/openapi/v3', '/openapi/v3/api/v1', '/healthz'),
  },
);

const queryKeys = [
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'fieldValidation',
  'dryRun',
  'pretty',
  'includeObject',
  'timeoutSeconds',
  'gracePeriodSeconds',
  'propagationPolicy',
  'container',
  'command',
];
const queryValue = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '99999999999999999999',
    'Exact',
    'Strict',
    'All',
    'a=b',
    'a in (b',
    '!a',
    'metadata.name=a',
    'spec.nodeName=x',
    'true',
  ),
);
const query = fc.array(fc.tuple(fc.constantFrom(...queryKeys), queryValue), { maxLength: 3 });

const headers = fc.record(
  {
    accept: fc.constantFrom(
      'application/json',
      '*/*',
      'application/yaml',
      'text/html',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      'application/vnd.kubernetes.protobuf',
      ';;;,=',
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
      'application/vnd.kubernetes.protobuf',
      'text/plain',
      '',
    ),
    authorization: fc.constantFrom('Bearer x', 'Bearer abcdef.0123456789abcdef', 'Basic YTpi', 'nonsense'),
    'impersonate-user': fc.constantFrom('somebody', 'system:node:mac-1'),
  },
  { requiredKeys: [] },
);

/** JSON that often looks like an object, with arbitrary content. */
const outline = fc.record(
  {
    apiVersion: fc.constantFrom('v1', 'example.com/v1', 'apiextensions.k8s.io/v1', 5, null),
    kind: fc.constantFrom(
      'Pod',
      'Node',
      'ConfigMap',
      'Thing',
      'CustomResourceDefinition',
      'Secret',
      'DeleteOptions',
      [],
    ),
    metadata: fc.oneof(
      fc.record(
        {
          name: fc.oneof(word, fc.constantFrom('a', 'b')),
          labels: fc.jsonValue(),
          finalizers: fc.jsonValue(),
          ownerReferences: fc.jsonValue(),
          resourceVersion: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
    spec: fc.oneof(
      fc.record(
        {
          containers: fc.jsonValue(),
          nodeName: fc.jsonValue(),
          taints: fc.jsonValue(),
          replicas: fc.jsonValue(),
          tags: fc.jsonValue(),
          versions: fc.jsonValue(),
          names: fc.jsonValue(),
          holderIdentity: fc.jsonValue(),
          renewTime: fc.jsonValue(),
          request: fc.jsonValue(),
          token: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
    status: fc.jsonValue(),
    data: fc.jsonValue(),
    target: fc.jsonValue(),
    rules: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const operations = fc.array(
  fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path: fc.constantFrom(
        '',
        '/metadata/labels',
        '/metadata/name',
        '/spec',
        '/metadata/finalizers/-',
        '/__proto__/x',
        '/spec/tags/0',
      ),
      value: fc.jsonValue(),
      from: fc.constantFrom('/spec', '/metadata', ''),
    },
    { requiredKeys: ['op', 'path'] },
  ),
);
const body = fc.oneof(
  { weight: 6, arbitrary: outline.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: operations.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      '[]',
      'null',
      '{"a":1,"a":2}',
      'a: &a [*a]',
      '"\\ud800"',
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
    ),
  },
);

const read = async (response: ApiResponse): Promise<string> => {
  if (response.kind !== 'answer') return '';
  return typeof response.body === 'string' ? response.body : new TextDecoder().decode(response.body);
};

describe('a hostile client', () => {
  const defects: unknown[] = [];
  let kubernetes: Kubernetes;

  const send = (request: Partial<ApiRequest>): Promise<ApiResponse> =>
    kubernetes.handle({
      method: 'GET',
      path: '/',
      query: new URLSearchParams(),
      headers: {},
      body: new Uint8Array(),
      certificate: admin,
      signal: new AbortController().signal,
      ...request,
    });

  before(async () => {
    kubernetes = await createKubernetes({ clock: manualClock(), report: (error) => defects.push(error) });
    await send({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body: Buffer.from(JSON.stringify(definition)),
    });
    for (const name of ['a', 'b']) {
      const bodies: [string, unknown][] = [
        ['/api/v1/namespaces/default/configmaps', { metadata: { name } }],
        ['/api/v1/nodes', { metadata: { name } }],
        ['/api/v1/namespaces/default/pods', { metadata: { name }, spec: { containers: [{ name: 'x', image: 'x' }] } }],
        [
          '/apis/example.com/v1/namespaces/default/things',
          { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, spec: { tags: ['x'] } },
        ],
      ];
      for (const [path, value] of bodies)
        await send({ method: 'POST', path, body: Buffer.from(JSON.stringify(value)) });
    }
  });

  after(() => kubernetes.stop());

  test('always gets a response, and an error is a Status with a reason', async () => {
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW');
    await fc.assert(
      fc.asyncProperty(method, path, query, headers, body, async (method, path, query, headers, body) => {
        const response = await send({
          method,
          path,
          query: new URLSearchParams(query),
          headers,
          body: Buffer.from(body),
        });
        assert.deepEqual(defects.splice(0), [], 'the server failed by itself');
        if (response.kind !== 'answer' || response.code < 400) return;
        const text = await read(response);
        // The real server's OpenAPI handler refuses with an empty body, and its router in plain text.
        if (text === '' && path.startsWith('/openapi')) return;
        if (response.headers['content-type']?.startsWith('text/plain')) return;
        const status = JSON.parse(text) as Record<string, unknown>;
        assert.equal(status['kind'], 'Status');
        assert.equal(status['code'], response.code);
        assert.ok(typeof status['message'] === 'string' && status['message'] !== '');
      }),
      { numRuns: 3_000 },
    );
  });

  test('cannot change Object.prototype', () => {
    assert.deepEqual(Object.keys(Object.prototype), []);
    assert.equal(({} as Record<string, unknown>)['x'], undefined);
  });

  test('leaves a working server', async () => {
    const made = await send({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: Buffer.from('{"metadata":{"name":"after-all"}}'),
    });
    assert.equal(made.kind === 'answer' && made.code, 201);
  });
});
