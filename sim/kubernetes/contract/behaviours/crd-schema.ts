import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { establish } from '../crds.ts';
import { type Cause, includes, refused } from '../expect.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const crdSchema = topic('custom resources', [
  behaviour('unknown fields are pruned', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, { ...widget(apiVersion, 'a', { unknown: 1 }), top: 'level' });
    assert.equal(created.top, undefined);
    assert.deepEqual(created.spec, { size: 3, mode: 'slow', replicas: 1 });
  }),

  behaviour('unknown fields are kept where the schema preserves them', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const anything = { deep: { er: [1, { x: null }] } };
    const created = await context.create(await collection(), widget(apiVersion, 'a', { anything }));
    assert.deepEqual(read(created, 'spec.anything'), anything);
  }),

  behaviour('defaults are set on create and on update', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a', { mode: 'fast' }));
    assert.equal(read(created, 'spec.mode'), 'fast');
    const edited = await context.edit(`${path}/a`, { spec: { mode: null } });
    assert.equal(read(edited, 'spec.mode'), 'slow');
  }),

  behaviour('a default that is added later applies to stored objects', async (context) => {
    const schema = (properties: Record<string, unknown>): Record<string, unknown> => ({
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
    });
    const { group, path } = await establish(context, { kind: 'Late', plural: 'lates', version: schema({}) });
    const lates = await context.collection('lates', `${group}/v1`);
    await context.create(lates, { apiVersion: `${group}/v1`, kind: 'Late', metadata: { name: 'a' }, spec: {} });
    await context.edit(path, {
      spec: {
        versions: [
          { name: 'v1', served: true, storage: true, ...schema({ colour: { type: 'string', default: 'grey' } }) },
        ],
      },
    });
    await context.eventually('the default', async () => {
      const answer = await context.get(`${lates}/a`);
      return read(answer.json, 'spec.colour') === 'grey' ? answer : undefined;
    });
  }),

  behaviour('null in a non-nullable field is pruned or defaulted; a nullable field keeps it', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const created = await context.create(await collection(), widget(apiVersion, 'a', { mode: null, maybe: null }));
    includes(created, { spec: { mode: 'slow', maybe: null } });
  }),

  behaviour('int-or-string accepts both', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    includes(await context.create(path, widget(apiVersion, 'a', { amount: 5 })), { spec: { amount: 5 } });
    includes(await context.create(path, widget(apiVersion, 'b', { amount: '50%' })), { spec: { amount: '50%' } });
  }),

  behaviour('numbers keep their type: 1.0 is an integer, 1.5 is not', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const body = JSON.stringify(widget(apiVersion, 'a')).replace('"size":3', '"size":3.0');
    assert.equal((await context.post(path, body)).code, 201);
    refused(await context.post(path, widget(apiVersion, 'b', { size: 1.5 })), { code: 422, reason: 'Invalid' });
  }),

  behaviour('metadata of the wrong type is a bad request', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const wrong = {
      'Go struct field ObjectMeta.labels of type string': { name: 'a', labels: { x: 5 } },
      'Go struct field ObjectMeta.finalizers of type string': { name: 'a', finalizers: [5] },
      'Go struct field ObjectMeta.name of type string': { name: 5 },
    };
    for (const [what, metadata] of Object.entries(wrong)) {
      refused(await context.post(path, { ...widget(apiVersion, 'a'), metadata }), {
        code: 400,
        reason: 'BadRequest',
        message: `Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into ${what}`,
      });
    }
  }),

  behaviour('unknown fields of metadata are dropped, or rejected by Strict', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const body = { ...widget(apiVersion, 'a'), metadata: { name: 'a', nom: 'a' } };
    assert.equal(read(await context.create(path, body), 'metadata.nom'), undefined);
    refused(await context.post(`${path}?fieldValidation=Strict`, body), {
      code: 400,
      reason: 'BadRequest',
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.nom"',
    });
  }),
]);

/** Specs with one wrong field each, and the cause that the server reports. */
const wrong: [spec: Record<string, unknown>, cause: Cause][] = [
  [
    { size: 99 },
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 99: spec.size in body should be less than or equal to 10',
      field: 'spec.size',
    },
  ],
  [
    { size: 0 },
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: spec.size in body should be greater than or equal to 1',
      field: 'spec.size',
    },
  ],
  [
    { size: 'big' },
    {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
      field: 'spec.size',
    },
  ],
  [{ size: null }, { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.size' }],
  [
    { mode: 'medium' },
    {
      reason: 'FieldValueNotSupported',
      message: 'Unsupported value: "medium": supported values: "slow", "fast"',
      field: 'spec.mode',
    },
  ],
  [
    { name: 'UPPER' },
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "UPPER": spec.name in body should match \'^[a-z]+$\'',
      field: 'spec.name',
    },
  ],
  [
    { name: 'waytoolong' },
    { reason: 'FieldValueTooLong', message: 'Too long: may not be more than 8 bytes', field: 'spec.name' },
  ],
  [
    { tags: ['a', 'b', 'a'] },
    { reason: 'FieldValueDuplicate', message: 'Duplicate value: "a"', field: 'spec.tags[2]' },
  ],
  [
    { ports: [{ number: 1 }, { number: 1, note: 'again' }] },
    { reason: 'FieldValueDuplicate', message: 'Duplicate value: {"number":1}', field: 'spec.ports[1]' },
  ],
  [
    { ports: [{ note: 'x' }] },
    { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.ports[0].number' },
  ],
  [
    { labels: { a: 5 } },
    {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
      field: 'spec.labels.a',
    },
  ],
  [
    { amount: true },
    {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "boolean": spec.amount in body must be of type integer,string: "boolean"',
      field: 'spec.amount',
    },
  ],
];

/** After these errors the server skips the CEL rules of the schema, and the answer says so. */
const blocksRules = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
]);
const rulesNotChecked: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

export const crdValidation = topic('validation of custom resources', [
  ...wrong.map(([spec, cause]) =>
    behaviour(`${JSON.stringify(spec)} is rejected with ${cause.reason} of ${cause.field}`, async (context) => {
      const { collection, apiVersion, group } = await widgets(context);
      const causes = blocksRules.has(cause.reason ?? '') ? [cause, rulesNotChecked] : [cause];
      const texts = causes.map(({ field, message }) => `${field}: ${message}`);
      refused(await context.post(`${await collection()}?dryRun=All`, widget(apiVersion, 'a', spec)), {
        code: 422,
        reason: 'Invalid',
        message: `Widget.${group} "a" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
        details: { name: 'a', group, kind: 'Widget', causes },
      });
    }),
  ),

  behaviour('a transition rule protects an immutable field, and accepts its first value', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    await context.edit(`${path}/a`, { spec: { class: 'gold' } });
    await context.edit(`${path}/a`, { spec: { class: 'gold', size: 4 } });
    refused(await context.patch(`${path}/a`, 'merge', { spec: { class: 'lead' } }), {
      code: 422,
      reason: 'Invalid',
      message: `Widget.${group} "a" is invalid: spec.class: Invalid value: "lead": class is immutable`,
      causes: [
        { reason: 'FieldValueInvalid', message: 'Invalid value: "lead": class is immutable', field: 'spec.class' },
      ],
    });
  }),

  behaviour('a rule over two fields returns its message expression at its field path', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a', { low: 1, high: 2 }));
    refused(await context.post(path, widget(apiVersion, 'b', { name: 'bee', low: 3, high: 2 })), {
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value: bee has low above high', field: 'spec.low' }],
    });
  }),

  behaviour('a value that has become invalid is accepted as long as it does not change', async (context) => {
    const version = (maximum: number): Record<string, unknown> => ({
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { size: { type: 'integer', maximum }, note: { type: 'string' } } },
          },
        },
      },
    });
    const { group, path } = await establish(context, { kind: 'Shrunk', plural: 'shrunks', version: version(100) });
    const shrunks = await context.collection('shrunks', `${group}/v1`);
    const body = (name: string): unknown => ({
      apiVersion: `${group}/v1`,
      kind: 'Shrunk',
      metadata: { name },
      spec: { size: 50 },
    });
    await context.create(shrunks, body('a'));
    await context.edit(path, { spec: { versions: [version(10)] } });
    await context.eventually('the new schema', async () => {
      const answer = await context.post(`${shrunks}?dryRun=All`, body('b'));
      return answer.code === 422 ? answer : undefined;
    });
    const edited = await context.edit(`${shrunks}/a`, { spec: { note: 'still here' } });
    assert.deepEqual(edited.spec, { size: 50, note: 'still here' });
    refused(await context.patch(`${shrunks}/a`, 'merge', { spec: { size: 51 } }), { code: 422, reason: 'Invalid' });
  }),
]);
