import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { schemaOf } from '../generated/catalogue.ts';
import { copy } from '../object.ts';
import { prune, unknownFields } from './pruning.ts';
import type { Schema } from './schema.ts';
import { anObject, aSchema } from './testing/arbitrary.ts';

const text: Schema = { type: 'string' };

const thing: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        arr: { type: 'array', items: { type: 'object', properties: { k: text } } },
        ps: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { x: text } } },
        },
        emb: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

describe('unknownFields', () => {
  it('names fields of a custom resource in the order of the real server', () => {
    const object = {
      apiVersion: 'ex.io/v1',
      kind: 'Thing',
      metadata: { name: 't', foo: 1, ownerReferences: [{ bar: 1 }] },
      zz: 1,
      spec: {
        A: 1,
        b: { c: 1 },
        ps: { free: 1, known: { y: 1 } },
        arr: [{ k: 'a', no: 1 }],
        emb: { apiVersion: 'v1', kind: 'K', metadata: { name: 'q', nope: 1, labels: { a: 'b' } }, x: 1 },
      },
    };
    assert.deepEqual(unknownFields(object, thing), [
      'metadata.foo',
      'metadata.ownerReferences[0].bar',
      'spec.A',
      'spec.arr[0].no',
      'spec.b',
      'spec.ps.known.y',
      'zz',
      'spec.emb.metadata.nope',
    ]);
  });

  it('names fields of a built-in kind in the order of the document', () => {
    const schema = schemaOf('', 'v1', 'Pod');
    assert.ok(schema);
    const spec = { zz: 1, Containers: [], containers: [{ nam: 'x', name: 'y', b: 1 }], aa: 1 };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { anything: 'x' }, foo: 1 }, spec, bb: 2 };
    assert.deepEqual(unknownFields(pod, schema), [
      'metadata.foo',
      'spec.zz',
      'spec.Containers',
      'spec.containers[0].nam',
      'spec.containers[0].b',
      'spec.aa',
      'bb',
    ]);
  });

  it('does not treat a property of the prototype as a known field', () => {
    assert.deepEqual(unknownFields({ spec: { constructor: 1, toString: 1 } }, thing), [
      'spec.constructor',
      'spec.toString',
    ]);
  });

  it('finds nothing after pruning', () => {
    fc.assert(
      fc.property(anObject, aSchema, (given, schema) => {
        const object = copy(given);
        prune(object, schema);
        assert.deepEqual(unknownFields(object, schema), []);
      }),
    );
  });
});
