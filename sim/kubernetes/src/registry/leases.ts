import { type Cause, invalid } from '../errors/field-errors.ts';
import type { KubeObject } from '../object.ts';
import { plainStrategy, type Strategy } from '../resource.ts';
import { childOf, fieldsOf } from '../unstructured.ts';
import { validateKindMetadataUpdate } from './validation/metadata.ts';

const resource = { group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease', namespaced: true };

const validateSpec = (lease: KubeObject): Cause[] => {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = fieldsOf(lease['spec']);
  return [
    ...(typeof seconds === 'number' && seconds <= 0
      ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...(typeof transitions === 'number' && transitions < 0
      ? [invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ];
};

/** Coordinated leader election is off by default, so its fields are dropped. */
const dropCoordination = (lease: KubeObject): void => {
  const spec = childOf(lease, 'spec');
  delete spec['strategy'];
  delete spec['preferredHolder'];
};

export const leaseStrategy: Strategy = {
  ...plainStrategy,
  allowUnconditionalUpdate: false,
  allowCreateOnUpdate: true,
  prepareForCreate: dropCoordination,
  prepareForUpdate: dropCoordination,
  validate: (lease, old) => [...(old ? validateKindMetadataUpdate(lease, old, resource) : []), ...validateSpec(lease)],
};
