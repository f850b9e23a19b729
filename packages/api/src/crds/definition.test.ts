import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { kinds } from '../kinds/index.ts';
import { definitionOf, definitions, schemaOf, type StructuralSchema } from './index.ts';
import { examples } from './suite/examples.ts';

const folder = join(import.meta.dirname, '../../crds');

/** Every schema below one, with its path. */
const everything = (path: string, schema: StructuralSchema): [path: string, schema: StructuralSchema][] => [
  [path, schema],
  ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => everything(`${path}.${name}`, field)),
  ...(schema.items === undefined ? [] : everything(`${path}[]`, schema.items)),
];

/** Whether there is something at a path such as `status.turns[].hash`. */
const holds = (value: unknown, path: string): boolean =>
  path.split('.').reduce<unknown[]>(
    (found, step) => {
      const next = found.map((each) => Object(each)[step.replace('[]', '')]).filter((each) => each !== undefined);
      return step.endsWith('[]') ? next.flat() : next;
    },
    [value],
  ).length > 0;

const fieldsOf = (kind: (typeof kinds)[number]) => everything(kind.names.kind, schemaOf(kind));

describe('definitions of our kinds', () => {
  test('are the files that are shipped, no more and no less', () => {
    const shipped = readdirSync(folder).sort();
    assert.deepEqual(shipped, definitions.map(({ metadata }) => `${metadata?.name}.yaml`).sort());
    for (const definition of definitions) {
      assert.deepEqual(parse(readFileSync(join(folder, `${definition.metadata?.name}.yaml`), 'utf8')), definition);
    }
  });

  test('are the same whenever they are made', () => {
    assert.deepEqual(
      kinds.map((kind) => JSON.stringify(definitionOf(kind))),
      definitions.map((each) => JSON.stringify(each)),
    );
  });

  for (const kind of kinds) {
    test(`${kind.names.kind}: every field says what it is`, () => {
      const silent = fieldsOf(kind).filter(
        ([path, { description = '' }]) => description === '' && !path.endsWith('[]'),
      );
      assert.deepEqual(
        silent.map(([path]) => path),
        [],
      );
    });

    test(`${kind.names.kind}: the examples have every field`, () => {
      const written = examples.filter((example) => example.kind === kind.names.kind);
      const known = Object.entries(schemaOf(kind).properties ?? {}).flatMap(([part, schema]) =>
        everything(part, schema),
      );
      const missing = known.map(([path]) => path).filter((path) => !written.some((example) => holds(example, path)));
      assert.deepEqual(missing, []);
    });

    test(`${kind.names.kind}: every text has a longest length, so that rules have a bounded cost`, () => {
      const endless = fieldsOf(kind).filter(
        ([, { type, maxLength, enum: words, format }]) =>
          type === 'string' && maxLength === undefined && words === undefined && format === undefined,
      );
      assert.deepEqual(
        endless.map(([path]) => path),
        [],
      );
    });
  }

  test('nothing that Cluster API clones is ever required, nor refused for what it says (I-14)', () => {
    const machine = kinds.find(({ names }) => names.kind === 'ScalewayAppleSiliconMachine');
    assert.ok(machine);
    const { spec } = schemaOf(machine).properties ?? {};
    assert.ok(spec);
    for (const [path, schema] of everything('spec', spec)) {
      assert.equal(schema.required, undefined, path);
      if (path === 'spec.providerID') continue;
      assert.equal(schema.pattern ?? schema.enum ?? schema.minLength, undefined, path);
      assert.equal(schema['x-kubernetes-validations'], undefined, path);
    }
  });

  test('hold what Cluster API reads, by both of its contracts', () => {
    const paths = (kind: string): string[] =>
      kinds.filter(({ names }) => names.kind === kind).flatMap((found) => fieldsOf(found).map(([path]) => path));
    const read: Record<string, string[]> = {
      ScalewayAppleSiliconMachine: [
        'spec.providerID',
        'status.ready',
        'status.initialization.provisioned',
        'status.addresses',
        'status.conditions',
      ],
      ScalewayAppleSiliconMachineTemplate: [
        'spec.template.metadata.labels',
        'spec.template.metadata.annotations',
        'spec.template.spec',
      ],
      ScalewayAppleSiliconCluster: [
        'spec.controlPlaneEndpoint.host',
        'status.ready',
        'status.initialization.provisioned',
        'status.conditions',
      ],
      ExternalControlPlane: [
        'status.ready',
        'status.initialized',
        'status.initialization.controlPlaneInitialized',
        'status.externalManagedControlPlane',
        'status.conditions',
      ],
    };
    for (const [kind, fields] of Object.entries(read)) {
      const known = paths(kind);
      for (const field of fields) assert.ok(known.includes(`${kind}.${field}`), `${kind}.${field}`);
      const definition = definitions.find(({ spec }) => spec.names.kind === kind);
      assert.deepEqual(definition?.metadata?.labels, {
        'cluster.x-k8s.io/v1beta1': 'v1alpha1',
        'cluster.x-k8s.io/v1beta2': 'v1alpha1',
        // Without it `clusterctl move` does not see the objects, nor that they block it.
        'clusterctl.cluster.x-k8s.io': '',
      });
    }
    // With these core would overwrite the Machine's own, or keep a failure for ever (G-17).
    const machine = paths('ScalewayAppleSiliconMachine');
    for (const trap of ['spec.failureDomain', 'status.failureReason', 'status.failureMessage']) {
      assert.ok(!machine.includes(`ScalewayAppleSiliconMachine.${trap}`), trap);
    }
    // With a version core would hold back machines.
    assert.ok(!paths('ExternalControlPlane').includes('ExternalControlPlane.spec.version'));
  });
});
