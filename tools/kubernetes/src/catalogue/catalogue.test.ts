import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type ApiResource,
  type Catalogue,
  cataloguePath,
  formatCatalogue,
  type GetJson,
  readCatalogue,
} from './catalogue.ts';
import type { PublishedSchema, Schemas } from './schemas.ts';
import { bodyKinds, servedResources } from './served-kinds.ts';

/** An API server that serves exactly the kinds of the table, each with a schema `schema.<plural>`. */
const fakeServer = (change: (answers: Record<string, unknown>) => void = () => {}): GetJson => {
  const answers: Record<string, unknown> = { '/version': { gitVersion: 'v1.99.0' } };
  const bodies: Schemas = {};
  for (const { schema } of bodyKinds) {
    bodies[schema] = { 'x-kubernetes-group-version-kind': [{ group: 'bodies', version: 'v1', kind: schema }] };
  }
  for (const [groupVersion, plurals] of Object.entries(servedResources)) {
    const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
    const resources: ApiResource[] = [];
    const schemas: Schemas = { ...bodies };
    for (const [plural, subresources] of Object.entries(plurals)) {
      resources.push(
        { name: plural, kind: plural, verbs: ['get'], storageVersionHash: 'x' },
        { name: `${plural}/other`, kind: plural },
      );
      for (const subresource of subresources)
        resources.push({ name: `${plural}/${subresource}`, kind: `${subresource}Options` });
      const kinds = [{ group: group ?? '', version: version ?? '', kind: plural }];
      schemas[`schema.${plural}.${group}`] = { type: 'object', 'x-kubernetes-group-version-kind': kinds };
    }
    resources.push({ name: 'strangers', kind: 'Stranger' });
    const path = group === '' ? `api/${groupVersion}` : `apis/${groupVersion}`;
    answers[`/${path}`] = { resources };
    answers[`/openapi/v3/${path}`] = { components: { schemas } };
  }
  change(answers);
  return <T>(path: string): Promise<T> => {
    if (!(path in answers)) return Promise.reject(new Error(`no answer for ${path}`));
    const answer: T = JSON.parse(JSON.stringify(answers[path]));
    return Promise.resolve(answer);
  };
};

test('the catalogue lists the served resources, and no others, without storage hashes', async () => {
  const { version, groups, kinds } = await readCatalogue(fakeServer());
  assert.equal(version, 'v1.99.0');
  const core = groups.find((group) => group.group === '');
  const names = core?.resources.map((resource) => resource.name) ?? [];
  assert.ok(names.includes('pods') && names.includes('pods/eviction'));
  assert.ok(!names.includes('pods/other') && !names.includes('strangers'));
  assert.ok(core?.resources.every((resource) => !('storageVersionHash' in resource)));
  assert.equal(kinds['/v1/pods'], 'schema.pods.');
  assert.equal(kinds['coordination.k8s.io/v1/leases'], 'schema.leases.coordination.k8s.io');
});

test('a resource that the server does not serve is an error that names it', async () => {
  const server = fakeServer((answers) => {
    answers['/apis/coordination.k8s.io/v1'] = { resources: [] };
  });
  await assert.rejects(readCatalogue(server), /does not serve leases in coordination\.k8s\.io\/v1/);
});

test('a served kind without a schema is an error', async () => {
  const server = fakeServer((answers) => {
    answers['/openapi/v3/apis/coordination.k8s.io/v1'] = { components: { schemas: {} } };
  });
  await assert.rejects(readCatalogue(server), /lists leases but has no schema/);
});

test('two documents that disagree about a schema are an error', async () => {
  const different: PublishedSchema = { type: 'string' };
  const server = fakeServer((answers) => {
    answers['/openapi/v3/apis/apps/v1'] = { components: { schemas: { 'schema.pods.': different } } };
  });
  await assert.rejects(readCatalogue(server), /disagree about schema\.pods\./);
});

test('the text has a line for each resource and each schema, and is the same value as the catalogue', async () => {
  const catalogue = await readCatalogue(fakeServer());
  const text = formatCatalogue(catalogue);
  assert.deepEqual(JSON.parse(text), catalogue);
  const lines = text.split('\n');
  assert.equal(lines.filter((line) => line.includes('"name":"pods"')).length, 1);
  assert.equal(lines.filter((line) => line.trimStart().startsWith('"schema.pods."')).length, 1);
});

test('the committed file is formatted as the dump formats it', () => {
  const text = readFileSync(cataloguePath, 'utf8');
  const catalogue: Catalogue = JSON.parse(text);
  assert.ok(formatCatalogue(catalogue) === text);
});
