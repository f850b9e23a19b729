import type { Schema } from './schema.ts';

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const time: Schema = { type: 'string', format: 'date-time' };
const count: Schema = { type: 'integer', format: 'int64' };
const texts: Schema = { type: 'object', additionalProperties: text };

/** `metadata` of any object; the schema of a custom resource does not contain it. */
export const objectMetaSchema: Schema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: count,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: count,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: flag,
          blockOwnerDeletion: flag,
        },
      },
    },
    finalizers: { type: 'array', items: text },
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time,
          fieldsType: text,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: text,
        },
      },
    },
  },
};

/** Fields of every resource, also of one that is embedded in another. */
export const isMetaField = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata';

/** The schemas of built-in kinds contain all of `metadata`; those of custom resources at most restrict its names. */
export const isBuiltIn = (root: Schema): boolean => root.properties?.['metadata']?.properties?.['uid'] !== undefined;
