import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ApiError } from '../errors/api-error.ts';
import { catalogue } from '../generated/catalogue.ts';
import { discover } from './discovery.ts';
import { answerOf, jsonOf, request, served, widget } from './testing/served-resources.ts';

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  discover(request(path, headers, method), served);

const aggregated =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return `${error.code} ${error.message}`;
  }
  return 'nothing is wrong';
};

test('every list of resources equals that of the real server', () => {
  for (const { group, version, resources } of catalogue.groups) {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const list = jsonOf<{ resources: unknown[]; groupVersion: string; apiVersion?: string }>(ask(path));
    assert.equal(JSON.stringify(list.resources), JSON.stringify(resources), path);
    assert.equal(list.groupVersion, group === '' ? version : `${group}/${version}`);
    assert.equal(list.apiVersion, group === '' ? undefined : 'v1');
  }
});

// Captured from the real server, except storageVersionHash.
const widgets =
  '{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["wg"],"categories":["all","toys"]},{"name":"widgets/status","singularName":"","namespaced":true,"kind":"Widget","verbs":["get","patch","update"]},{"name":"widgets/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]}]}\n';
const group =
  '{"kind":"APIGroup","apiVersion":"v1","name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"},{"groupVersion":"example.com/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}\n';
const aggregatedPods = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'Pod' },
  scope: 'Namespaced',
  singularResource: 'pod',
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['po'],
  categories: ['all'],
};
const aggregatedGroup =
  '{"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[{"resource":"widgets","responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["wg"],"categories":["all","toys"],"subresources":[{"subresource":"status","responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"verbs":["get","patch","update"]},{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get","patch","update"]}]}],"freshness":"Current"},{"version":"v1beta1","resources":[{"resource":"widgets","responseKind":{"group":"example.com","version":"v1beta1","kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["wg"],"categories":["all","toys"]}],"freshness":"Current"}]}';

test('a custom resource is listed like on the real server, byte for byte', () => {
  assert.equal(answerOf(ask('/apis/example.com/v1')).body, widgets);
  assert.equal(answerOf(ask('/apis/example.com')).body, group);
});

test('/api and /apis list versions and groups, with or without a trailing slash', () => {
  assert.deepEqual(jsonOf(ask('/api', { host: 'localhost:6443' })), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'localhost:6443' }],
  });
  const { groups } = jsonOf<{ groups: { name: string }[] }>(ask('/apis'));
  assert.equal(groups.at(-1)?.name, 'example.com');
  assert.ok(groups.every(({ name }) => name !== ''));
  for (const path of ['/api', '/apis', '/api/v1', '/apis/example.com', '/apis/example.com/v1']) {
    assert.equal(answerOf(ask(`${path}/`)).body, answerOf(ask(path)).body, path);
  }
});

test('aggregated discovery is returned on request, with the exact media type', () => {
  const core = answerOf(ask('/api', { accept: aggregated }));
  assert.equal(core.headers['content-type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  assert.equal(core.headers['vary'], 'Accept');
  const list = jsonOf<{ items: { metadata: object; versions: { resources: Record<string, unknown>[] }[] }[] }>(core);
  assert.deepEqual(list.items[0]?.metadata, {});
  const pods = list.items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
  const { subresources, ...rest } = pods as { subresources: { subresource: string }[] };
  assert.deepEqual(rest, aggregatedPods);
  assert.deepEqual(
    subresources.find(({ subresource }) => subresource === 'eviction'),
    { subresource: 'eviction', responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' }, verbs: ['create'] },
  );
  const { items } = jsonOf<{ items: unknown[] }>(ask('/apis', { accept: aggregated }));
  assert.equal(JSON.stringify(items.at(-1)), aggregatedGroup);
  assert.equal(answerOf(ask('/api/v1', { accept: aggregated })).headers['content-type'], 'application/json');
});

test('aggregated discovery answers 304 until something changes', () => {
  const { etag = '' } = answerOf(ask('/apis', { accept: aggregated })).headers;
  const again = answerOf(ask('/apis', { accept: aggregated, 'if-none-match': etag }));
  assert.deepEqual([again.code, again.body, again.headers['etag']], [304, '', etag]);
  const changed = discover(request('/apis', { accept: aggregated, 'if-none-match': etag }), [...served, widget('v2')]);
  assert.equal(answerOf(changed).code, 200);
});

test('clients that request an older or unknown format get a fallback, or a 406', () => {
  const only = (parameters: string): Record<string, string> => ({ accept: `application/json;${parameters}` });
  const list = 'as=APIGroupDiscoveryList';
  const refused =
    '406 only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  assert.equal(
    refusal(() => ask('/apis', only(`g=apidiscovery.k8s.io;v=v2beta1;${list}`))),
    refused,
  );
  assert.equal(
    refusal(() => ask('/apis', only(list))),
    refused,
  );
  assert.equal(
    refusal(() => ask('/apis', { accept: 'text/html' })),
    refused,
  );
  assert.match(
    refusal(() => ask('/api', { accept: 'text/html' })),
    /^406 406: Not Acceptable/,
  );
  const local = ask('/apis', only(`g=apidiscovery.k8s.io;v=v2;${list};profile=nopeer`));
  assert.equal(jsonOf<{ kind: string }>(local).kind, 'APIGroupDiscoveryList');
  const first = ask('/apis', { accept: `application/json,${aggregated}` });
  assert.equal(jsonOf<{ kind: string }>(first).kind, 'APIGroupList');
});

test('discovery speaks YAML', () => {
  const answer = answerOf(ask('/apis/example.com', { accept: 'application/yaml' }));
  assert.equal(answer.headers['content-type'], 'application/yaml');
  assert.deepEqual(parse(String(answer.body)), JSON.parse(group));
});

test('an unknown version of a built-in group has a Status; an unknown group, or one of custom resources, has none', () => {
  const missing = '404 the server could not find the requested resource';
  for (const path of ['/api/v2', '/apis/coordination.k8s.io/v9'])
    assert.equal(
      refusal(() => ask(path)),
      missing,
      path,
    );
  for (const path of ['/apis/nope.example', '/apis/nope.example/v1', '/apis/example.com/v3']) {
    const answer = answerOf(ask(path));
    assert.deepEqual([answer.code, answer.body], [404, '404 page not found\n'], path);
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  }
});

test('only known paths check the method', () => {
  const notAllowed = '405 the server does not allow this method on the requested resource';
  for (const path of ['/api', '/api/v1', '/apis/coordination.k8s.io/v1']) {
    assert.equal(
      refusal(() => ask(path, {}, 'POST')),
      notAllowed,
      path,
    );
  }
  for (const path of ['/apis', '/apis/coordination.k8s.io', '/apis/example.com/v1']) {
    assert.equal(answerOf(ask(path, {}, 'POST')).code, 200, path);
  }
});

test('other paths are not discovery', () => {
  for (const path of ['/', '/version', '/api/v1/pods', '/apis/example.com/v1/widgets', '/apiss', '/openapi/v3']) {
    assert.equal(ask(path), undefined, path);
  }
});
