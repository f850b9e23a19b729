import { copy, type KubeObject } from '../../object.ts';
import type { View } from '../../resource.ts';
import type { Schema } from '../../schema/schema.ts';
import { printLabelSelector } from '../../selectors/label-requirement.ts';
import { requirementsOf } from '../../selectors/labels.ts';
import { childOf, fieldsOf, numberOf } from '../fields.ts';
import { notNegative } from './template.ts';

const read = (parent: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const spec = fieldsOf(parent['spec']);
  const replicas = numberOf(spec['replicas']);
  const selector = printLabelSelector(requirementsOf(fieldsOf(spec['selector'])));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    // Zero is what Go leaves out.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberOf(fieldsOf(parent['status'])['replicas']), ...(selector === '' ? {} : { selector }) },
  };
};

/** `/scale` of a Deployment or ReplicaSet: how many there should be, and nothing else. */
export const workloadScale = (schema: Schema | undefined): View => ({
  schema,
  read,
  write: (parent, edited) => {
    const next = copy(parent);
    childOf(next, 'spec')['replicas'] = numberOf(fieldsOf(edited['spec'])['replicas']);
    return next;
  },
  validate: (parent) => notNegative(fieldsOf(parent['spec']), ['replicas'], 'spec'),
});
