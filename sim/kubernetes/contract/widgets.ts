import type { ClusterUnderTest } from './cluster.ts';
import type { BehaviourContext } from './behaviour-context.ts';
import { establish } from './crds.ts';

export interface Widgets {
  group: string;
  apiVersion: string;
  /** Path of the Widgets in the context's namespace. */
  collection: () => Promise<string>;
}

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        mode: { type: 'string', enum: ['slow', 'fast'], default: 'slow' },
        replicas: { type: 'integer', default: 1 },
        name: { type: 'string', pattern: '^[a-z]+$', maxLength: 8 },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['number'],
          items: {
            type: 'object',
            required: ['number'],
            properties: { number: { type: 'integer' }, note: { type: 'string' } },
          },
        },
        anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        amount: { 'x-kubernetes-int-or-string': true },
        maybe: { type: 'string', nullable: true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        class: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'class is immutable' }],
        },
        low: { type: 'integer' },
        high: { type: 'integer' },
      },
      'x-kubernetes-validations': [
        {
          rule: '!has(self.low) || !has(self.high) || self.low <= self.high',
          messageExpression: "(has(self.name) ? self.name : 'it') + ' has low above high'",
          fieldPath: '.low',
          reason: 'FieldValueInvalid',
        },
      ],
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        replicas: { type: 'integer' },
        selector: { type: 'string' },
        observedGeneration: { type: 'integer' },
      },
    },
  },
};

const create = async (context: BehaviourContext): Promise<string> => {
  const { group } = await establish(context, {
    kind: 'Widget',
    plural: 'widgets',
    singular: 'widget',
    shortNames: ['wi'],
    categories: ['contraptions'],
    version: {
      schema: { openAPIV3Schema: schema },
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
      selectableFields: [{ jsonPath: '.spec.mode' }],
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How it is' },
        { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  });
  return group;
};

/** One definition per cluster: they are expensive on a real API server, and behaviours use different namespaces anyway. */
const known = new WeakMap<ClusterUnderTest, Promise<string>>();

export const widgets = async (context: BehaviourContext): Promise<Widgets> => {
  const creating = known.get(context.cluster) ?? create(context);
  known.set(context.cluster, creating);
  const group = await creating;
  return {
    group,
    apiVersion: `${group}/v1`,
    collection: () => context.collection('widgets', `${group}/v1`),
  };
};

export const widget = (
  apiVersion: string,
  name: string,
  spec: Record<string, unknown> = {},
): Record<string, unknown> => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name },
  spec: { size: 3, ...spec },
});
