import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { ApiError } from '../errors/api-error.ts';
import { nonResource } from './non-resource-paths.ts';
import { answerOf, jsonOf, request, served, widget } from './testing/served-resources.ts';

const clock = manualClock();
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', resources = served) =>
  answerOf(nonResource(request(path, headers, method), resources, { clock }));

interface Operation {
  parameters: { name: string }[];
  'x-kubernetes-group-version-kind': object;
}

interface Document {
  info: { title: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> };
}

const urlOf = (path: string, resources = served): string =>
  jsonOf<{ paths: Record<string, { serverRelativeURL: string }> }>(ask('/openapi/v3', {}, 'GET', resources)).paths[path]
    ?.serverRelativeURL ?? '';

test('the root lists every path, those of custom resources too', () => {
  const { paths } = jsonOf<{ paths: string[] }>(ask('/'));
  for (const path of ['/api', '/api/v1', '/apis/example.com', '/apis/example.com/v1beta1', '/version', '/readyz']) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(paths, [...paths].sort());
});

test('the version is that of the catalogue', () => {
  const version = jsonOf<Record<string, string>>(ask('/version'));
  assert.match(version['gitVersion'] ?? '', /^v1\.36\.\d+$/);
  assert.deepEqual([version['major'], version['minor'], version['minCompatibilityMinor']], ['1', '36', '35']);
  assert.throws(() => ask('/version', {}, 'POST'), ApiError);
  assert.throws(() => ask('/version', { accept: 'text/html' }), {
    message: '406: Not Acceptable\n\nAvailable representations: application/json',
  });
});

test('health is ok', () => {
  for (const check of ['healthz', 'livez', 'readyz']) {
    assert.deepEqual([ask(`/${check}`).code, ask(`/${check}`).body], [200, 'ok']);
    assert.equal(ask(`/${check}/ping`).body, 'ok');
    assert.equal(ask(`/${check}?verbose`).body, `[+]ping ok\n${check} check passed\n`);
    for (const wrong of [`/${check}/`, `/${check}/nope`, `/${check}/ping/x`]) assert.equal(ask(wrong).code, 404, wrong);
  }
});

test('the OpenAPI index links to the documents, which are cacheable forever', () => {
  const url = urlOf('apis/example.com/v1');
  const answer = ask(url);
  assert.equal(answer.code, 200);
  assert.equal(answer.headers['cache-control'], 'public, immutable');
  assert.equal(answer.headers['expires'], 'Fri, 01 Jan 2027 00:00:00 UTC');
  const etag = answer.headers['etag'] ?? '';
  assert.equal(ask(url, { 'if-none-match': etag }).code, 304);
  assert.equal(ask('/openapi/v3/apis/example.com/v1').headers['cache-control'], undefined);
});

test('a document under an old hash redirects', () => {
  const answer = ask('/openapi/v3/apis/example.com/v1?hash=123');
  assert.deepEqual([answer.code, answer.headers['location']], [301, urlOf('apis/example.com/v1')]);
});

test('a hash changes exactly with its document', () => {
  const changed = served.map((resource) =>
    resource.custom ? { ...resource, schema: { type: 'object' as const, description: 'other' } } : resource,
  );
  assert.notEqual(urlOf('apis/example.com/v1', changed), urlOf('apis/example.com/v1'));
  assert.equal(urlOf('api/v1', changed), urlOf('api/v1'));
  const other = { ...widget('v1'), plural: 'zebras', kind: 'Zebra' };
  const base = [widget('v1'), other];
  const renamed = [...base.slice(0, 1), { ...other, kind: 'Zonkey' }];
  assert.notEqual(urlOf('apis/example.com/v1', base), urlOf('apis/example.com/v1', renamed));
  const [first, ...rest] = served;
  assert.ok(first);
  const more = [first, { ...widget('v1beta1'), plural: 'zebras', kind: 'Zebra' }, ...rest];
  assert.notEqual(urlOf('apis/example.com/v1beta1', more), urlOf('apis/example.com/v1beta1'));
});

test('documents contain all their references, and nothing that is not served', () => {
  for (const path of ['api/v1', 'apis/apiextensions.k8s.io/v1', 'apis/example.com/v1']) {
    const text = String(ask(`/openapi/v3/${path}`).body);
    const { components } = JSON.parse(text) as Document;
    const references = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);
    assert.ok(references.length > 10);
    for (const name of references) assert.ok(Object.hasOwn(components.schemas, name), `${path}: ${name}`);
    assert.ok(
      !Object.hasOwn(components.schemas, path === 'api/v1' ? 'com.example.v1.Widget' : 'io.k8s.api.core.v1.Pod'),
    );
  }
});

test('PATCH operations declare field validation and dry run, as kubectl expects', () => {
  for (const [path, item, kind] of [
    ['api/v1', '/api/v1/namespaces/{namespace}/pods/{name}', { group: '', version: 'v1', kind: 'Pod' }],
    ['api/v1', '/api/v1/nodes/{name}', { group: '', version: 'v1', kind: 'Node' }],
    [
      'apis/example.com/v1',
      '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}',
      { group: 'example.com', version: 'v1', kind: 'Widget' },
    ],
  ] as const) {
    const operation = jsonOf<Document>(ask(`/openapi/v3/${path}`)).paths[item]?.['patch'];
    assert.deepEqual(operation?.['x-kubernetes-group-version-kind'], kind);
    const names = operation.parameters.map(({ name }) => name);
    assert.ok(names.includes('fieldValidation') && names.includes('dryRun'), names.join(' '));
  }
});

test('a custom resource has the schema of its author, with apiVersion, kind and metadata', () => {
  const { components, info } = jsonOf<Document>(ask('/openapi/v3/apis/example.com/v1'));
  const schema = components.schemas['com.example.v1.Widget'];
  assert.equal(info.title, 'Kubernetes CRD Swagger');
  assert.equal(schema?.['description'], 'A widget');
  assert.deepEqual(schema['x-kubernetes-group-version-kind'], [
    { group: 'example.com', kind: 'Widget', version: 'v1' },
  ]);
  assert.deepEqual(Object.keys(schema['properties'] as object).sort(), ['apiVersion', 'kind', 'metadata', 'spec']);
});

test('OpenAPI is served only as JSON', () => {
  const answer = ask('/openapi/v3/api/v1', { accept: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf' });
  assert.deepEqual([answer.code, answer.body], [406, '']);
  for (const path of ['/openapi/v3/', '/openapi/v3/api/v9', '/openapi/v3/nope'])
    assert.equal(ask(path).code, 404, path);
  assert.equal(ask('/openapi/v2').body, '404 page not found\n');
});

test('OpenAPI v2 is empty, so that kubectl can report unknown kinds', () => {
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  assert.deepEqual([ask('/openapi/v2', { accept }).code, ask('/openapi/v2', { accept }).body], [200, '']);
});

test('an unknown path gets a plain 404 without a Status', () => {
  assert.deepEqual([ask('/nope').code, ask('/nope').body], [404, '404 page not found\n']);
  assert.equal(nonResource(request('/api/v1/pods'), served), undefined);
});
