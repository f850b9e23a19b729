import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, type Resource, type WithStatus } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { kinds } from '../kinds/index.ts';
import { startEmbedded } from '../testing/embedded.ts';
import { type AnyKind, schemaOf, type StructuralSchema } from './index.ts';
import type { ClusterWithKinds } from './suite/run.ts';

/** Values that a schema allows, ignoring rules between fields. */

const longestText = 20;
const largestInteger = 2 ** 31 - 1;

const text = ({ enum: words, format, pattern, minLength = 0, maxLength = longestText }: StructuralSchema) => {
  if (words !== undefined) return fc.constantFrom(...words);
  if (format === 'date-time') {
    const years = { min: new Date('1970-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true };
    return fc.date(years).map((date) => date.toISOString());
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength);
  const size = { minLength, maxLength: Math.min(maxLength, longestText) };
  return fc.oneof(fc.string(size), fc.string({ ...size, maxLength: Math.max(minLength, 3), unit: 'grapheme' }));
};

const list = (schema: StructuralSchema, items: StructuralSchema): fc.Arbitrary<unknown> => {
  const size = { maxLength: Math.min(schema.maxItems ?? 3, 3) };
  const item = arbitraryValue(items);
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys !== undefined) {
    const keyOf = (value: unknown): string =>
      JSON.stringify(Object.entries(Object(value)).filter(([key]) => keys.includes(key)));
    return fc.uniqueArray(item, { ...size, selector: keyOf });
  }
  return schema['x-kubernetes-list-type'] === 'set' ? fc.uniqueArray(item, size) : fc.array(item, size);
};

const arbitraryValue = (schema: StructuralSchema): fc.Arbitrary<unknown> => {
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -largestInteger, max: schema.maximum ?? largestInteger });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return schema.items === undefined ? fc.constant([]) : list(schema, schema.items);
    case 'object': {
      if (schema.additionalProperties !== undefined) {
        return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), arbitraryValue(schema.additionalProperties), {
          maxKeys: 3,
        });
      }
      const fields = Object.entries(schema.properties ?? {}).map(
        ([name, field]) => [name, arbitraryValue(field)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] });
    }
  }
};

interface Spec {
  [field: string]: unknown;
  consumerRef?: object;
  release?: object;
  github?: { organization?: string; repository?: string };
  template?: { spec?: { os?: string; zone?: string; type?: string } };
}

/** Makes values satisfy the rules between fields, which a schema cannot express. */
const obeyRules = (spec: Spec): Spec => {
  if (spec.consumerRef) delete spec.release;
  if (spec.github) {
    delete spec.github.repository;
    if (!spec.github.organization) spec.github.repository = 'a/b';
  }
  const cloned = spec.template?.spec;
  if (cloned?.os) cloned.os = cloned.os.replaceAll(/[0-9]/g, '');
  if (cloned?.zone !== undefined) cloned.zone = 'nl-ams-1';
  if (cloned?.type === '') delete cloned.type;
  return spec;
};

describe('an object that matches the schema of its kind', () => {
  let cluster: ClusterWithKinds;
  let client: Client;
  before(async () => {
    cluster = await startEmbedded();
    client = createClient(cluster.transport, { clock: systemClock });
  });
  after(() => cluster.close());

  for (const kind of kinds) {
    const { names, spec: specSchema, status: statusSchema }: AnyKind = kind;
    const resource = kind.resource as Resource<WithStatus & { spec: object }>;
    const parts = schemaOf(kind).properties as { spec: StructuralSchema; status?: StructuralSchema };
    test(`is accepted by the server as ${names.kind}, with the same defaults as our parser`, async () => {
      let count = 0;
      const specs = arbitraryValue(parts.spec).map((spec) => obeyRules(structuredClone(spec) as Spec));
      const statuses = parts.status === undefined ? fc.constant(undefined) : arbitraryValue(parts.status);
      await fc.assert(
        fc.asyncProperty(specs, statuses, async (spec, status) => {
          const metadata = { name: `any-${count++}`, ...(names.namespaced ? { namespace: 'default' } : {}) };
          const apiVersion = `${names.group}/${names.version}`;
          const created = await client.create(resource, { apiVersion, kind: names.kind, metadata, spec });
          assert.deepEqual(created.spec, specSchema.parse(spec));
          if (statusSchema === undefined) return;
          // A put instead of a patch: a merge patch would merge with the defaults.
          const written = await client.update(
            resource,
            { ...created, status: status as object },
            { subresource: 'status' },
          );
          assert.deepEqual(written.status, statusSchema.parse(status));
        }),
        { numRuns: 60 },
      );
    });
  }
});
