import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { count, time } from '../schema/fields.ts';
import { withRules } from '../schema/rule.ts';
import { toStructural } from './structural-schema.ts';

describe('a zod schema becomes a structural one', () => {
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
    test(`not ${what}`, () => assert.throws(() => toStructural(schema)));
  }
});
