import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { read, readKey, readList } from '../read.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const named = (list: unknown, path: string, name: string): unknown =>
  readList(list, path).find((entry) => read(entry, 'name') === name);

export const discovery = topic('discovery', [
  behaviour('/version returns a version that parses as 1.36', async (context) => {
    const version = await context.fetch('/version');
    includes(version, { major: '1', minor: '36' });
    assert.match(String(read(version, 'gitVersion')), /^v1\.36\.\d+/);
  }),

  behaviour('/healthz, /livez and /readyz return plain "ok" to anybody', async (context) => {
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const answer = await context.get(path, { as: 'anonymous' });
      assert.equal(answer.code, 200, path);
      assert.equal(answer.text, 'ok', path);
      assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
    }
  }),

  behaviour('GET / lists paths', async (context) => {
    const answer = await context.get('/');
    assert.equal(answer.code, 200);
    const paths = readList(answer.json, 'paths');
    for (const path of ['/api', '/api/v1', '/apis', '/healthz', '/version']) assert.ok(paths.includes(path), path);
  }),

  behaviour('/api lists v1, and /apis lists each group with its preferred version', async (context) => {
    includes(await context.fetch('/api'), { kind: 'APIVersions', versions: ['v1'] });
    const groups = await context.fetch('/apis');
    includes(groups, { kind: 'APIGroupList', apiVersion: 'v1' });
    assert.deepEqual(named(groups, 'groups', 'coordination.k8s.io'), {
      name: 'coordination.k8s.io',
      versions: [{ groupVersion: 'coordination.k8s.io/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'coordination.k8s.io/v1', version: 'v1' },
    });
  }),

  behaviour('/apis/<group> describes only that group', async (context) => {
    includes(await context.fetch('/apis/coordination.k8s.io'), {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'coordination.k8s.io',
      preferredVersion: { groupVersion: 'coordination.k8s.io/v1', version: 'v1' },
    });
  }),

  behaviour('/api/v1 describes resources with verbs, short names, categories and singular names', async (context) => {
    const list = await context.fetch('/api/v1');
    includes(list, { kind: 'APIResourceList', groupVersion: 'v1' });
    includes(named(list, 'resources', 'pods'), {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    });
    includes(named(list, 'resources', 'nodes'), { singularName: 'node', namespaced: false, shortNames: ['no'] });
    includes(named(list, 'resources', 'pods/status'), {
      singularName: '',
      namespaced: true,
      kind: 'Pod',
      verbs: ['get', 'patch', 'update'],
    });
  }),

  behaviour('pods/eviction is an Eviction of policy/v1, as kubectl drain expects', async (context) => {
    includes(named(await context.fetch('/api/v1'), 'resources', 'pods/eviction'), {
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  }),

  behaviour('serviceaccounts/token is a TokenRequest of authentication.k8s.io/v1', async (context) => {
    includes(named(await context.fetch('/api/v1'), 'resources', 'serviceaccounts/token'), {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'TokenRequest',
      verbs: ['create'],
    });
  }),

  behaviour('aggregated discovery returns the requested media type', async (context) => {
    for (const path of ['/api', '/apis']) {
      const answer = await context.get(path, { headers: { accept: `${aggregated},application/json` } });
      assert.equal(answer.code, 200);
      assert.equal(answer.headers['content-type'], aggregated);
      assert.match(answer.headers.vary ?? '', /Accept/);
      includes(answer.json, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    }
  }),

  behaviour('aggregated discovery nests subresources under their resource', async (context) => {
    const answer = await context.get('/api', { headers: { accept: aggregated } });
    const core = read(answer.json, 'items.0.versions.0');
    includes(core, { version: 'v1', freshness: 'Current' });
    const pods = readList(core, 'resources').find((entry) => read(entry, 'resource') === 'pods');
    includes(pods, {
      resource: 'pods',
      responseKind: { group: '', version: '', kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
      shortNames: ['po'],
    });
    const eviction = readList(pods, 'subresources').find((entry) => read(entry, 'subresource') === 'eviction');
    includes(eviction, {
      subresource: 'eviction',
      responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    });
  }),

  behaviour('/openapi/v3 indexes a document per group version, whose PATCH takes fieldValidation', async (context) => {
    const index = await context.fetch('/openapi/v3');
    const url = read(readKey(read(index, 'paths'), 'api/v1'), 'serverRelativeURL');
    assert.match(String(url), /^\/openapi\/v3\/api\/v1\?hash=/);
    const document = await context.fetch(String(url));
    const path = readKey(read(document, 'paths'), '/api/v1/namespaces/{namespace}/configmaps/{name}');
    const patch = read(path, 'patch');
    const action = read(patch, 'x-kubernetes-group-version-kind');
    assert.deepEqual(action, { group: '', kind: 'ConfigMap', version: 'v1' });
    assert.ok(named(patch, 'parameters', 'fieldValidation'));
  }),
]);
