import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { kinds } from '../kinds/index.ts';
import { count, time, withRules } from '../schema/fields.ts';
import { toStructural } from './definition.ts';
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
  test('match the shipped files exactly', () => {
    const shipped = readdirSync(folder).sort();
    assert.deepEqual(shipped, definitions.map(({ metadata }) => `${metadata?.name}.yaml`).sort());
    for (const definition of definitions) {
      assert.deepEqual(parse(readFileSync(join(folder, `${definition.metadata?.name}.yaml`), 'utf8')), definition);
    }
  });

  test('are deterministic', () => {
    assert.deepEqual(
      kinds.map((kind) => JSON.stringify(definitionOf(kind))),
      definitions.map((each) => JSON.stringify(each)),
    );
  });

  for (const kind of kinds) {
    test(`${kind.names.kind}: every field has a description`, () => {
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

    test(`${kind.names.kind}: every string has a maximum length, so that CEL rules have a bounded cost`, () => {
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

  test('no field that Cluster API clones is required or validated (INC-314)', () => {
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

  test('have the fields that Cluster API reads, in both contract versions', () => {
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
    // With these core would overwrite the Machine's own, or keep a failure for ever.
    const machine = paths('ScalewayAppleSiliconMachine');
    for (const trap of ['spec.failureDomain', 'status.failureReason', 'status.failureMessage']) {
      assert.ok(!machine.includes(`ScalewayAppleSiliconMachine.${trap}`), trap);
    }
    // With a version core would hold back machines.
    assert.ok(!paths('ExternalControlPlane').includes('ExternalControlPlane.spec.version'));
  });
});

describe('conversion of a zod schema to a structural schema', () => {
  const table: [what: string, schema: z.ZodType, structural: object][] = [
    ['a text', z.string().max(3), { type: 'string', maxLength: 3 }],
    ['an integer, without the bounds of JavaScript', z.int(), { type: 'integer' }],
    ['a count', count('Of what.'), { type: 'integer', format: 'int32', minimum: 0, description: 'Of what.' }],
    ['a time, without a pattern', time('When.'), { type: 'string', format: 'date-time', description: 'When.' }],
    ['a default', z.boolean().default(false), { type: 'boolean', default: false }],
    ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a map', z.record(z.string(), z.string()), { type: 'object', additionalProperties: { type: 'string' } }],
    ['a list', z.array(z.string()).readonly(), { type: 'array', items: { type: 'string' } }],
    [
      'an object whose parts have defaults: it has one itself, or the server would not look inside',
      z.object({ inner: z.object({ size: z.int().default(1) }).prefault({}), must: z.string() }),
      {
        type: 'object',
        required: ['must'],
        properties: {
          inner: { type: 'object', default: {}, properties: { size: { type: 'integer', default: 1 } } },
          must: { type: 'string' },
        },
      },
    ],
    [
      'a rule, which does not hide the description',
      withRules(z.string().describe('A word.'), [{ rule: "self != ''", message: 'say something' }]),
      {
        type: 'string',
        description: 'A word.',
        'x-kubernetes-validations': [{ rule: "self != ''", message: 'say something' }],
      },
    ],
  ];
  for (const [what, schema, structural] of table) {
    test(what, () => assert.deepEqual(toStructural(schema), structural));
  }

  const refused: [what: string, schema: z.ZodType][] = [
    ['either of two types', z.union([z.string(), z.int()])],
    ['null', z.string().nullable()],
    ['anything', z.unknown()],
    ['a pattern that RE2 cannot read', z.string().regex(/^(?!a)/)],
    ['a fraction, which a client may round', z.number()],
  ];
  for (const [what, schema] of refused) {
    test(`rejects ${what}`, () => assert.throws(() => toStructural(schema)));
  }
});
