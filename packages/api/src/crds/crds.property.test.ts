import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, type Resource, type WithStatus } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { kinds } from '../kinds/index.ts';
import { arbitraryValue } from '../testing/arbitrary-value.ts';
import { startEmbedded } from '../testing/embedded.ts';
import { type AnyKind, schemaOf, type StructuralSchema } from './index.ts';
import type { ClusterWithKinds } from './suite/run.ts';

interface Spec {
  [field: string]: unknown;
  consumerRef?: object;
  release?: object;
  github?: { organization?: string; repository?: string };
  template?: { spec?: { os?: string; zone?: string; type?: string } };
}

/** What rules between fields ask for, which a schema cannot say. */
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

describe('what the schema of a kind allows', () => {
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
    test(`is taken by the server as ${names.kind} and filled in as we do`, async () => {
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
          // A put and not a patch: a merge patch would merge with the defaults.
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
