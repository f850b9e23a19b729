import { type Cause, invalid } from '../../errors/field-errors.ts';
import type { KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { childOf, type Fields, fieldsOf, numberOf } from '../../unstructured.ts';
import { keepSelector } from './deployments.ts';
import { applyTemplateDefaults, notNegative, validateSelectorAndTemplate } from './workload.ts';

const applyDefaults = (replicaSet: KubeObject): void => {
  const spec = childOf(replicaSet, 'spec');
  spec['replicas'] ??= 1;
  applyTemplateDefaults(replicaSet);
};

const validateSpec = (spec: Fields): Cause[] => [
  ...notNegative(spec, ['replicas', 'minReadySeconds'], 'spec'),
  ...validateSelectorAndTemplate(spec, 'ReplicaSet', 'replicaset'),
];

const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

const validateStatus = (status: Fields): Cause[] => {
  const of = (name: string): number => numberOf(status[name]);
  return [
    ...notNegative(status, ['replicas', ...parts, 'observedGeneration'], 'status'),
    ...parts
      .filter((name) => of(name) > of('replicas'))
      .map((name) => invalid(`status.${name}`, of(name), 'cannot be greater than status.replicas')),
    ...(of('availableReplicas') > of('readyReplicas')
      ? [invalid('status.availableReplicas', of('availableReplicas'), 'cannot be greater than readyReplicas')]
      : []),
  ];
};

export const replicaSetStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  hasGeneration: true,
  statusMayChangeMetadata: true,
  applyDefaults,
  prepareForCreate: (replicaSet) => {
    replicaSet['status'] = { replicas: 0 };
  },
  validate: (replicaSet, old) => [
    ...validateSpec(fieldsOf(replicaSet['spec'])),
    ...(old ? keepSelector(replicaSet, old) : []),
  ],
  validateStatus: (replicaSet) => validateStatus(fieldsOf(replicaSet['status'])),
  selectableFields: (replicaSet) => ({
    'status.replicas': String(numberOf(fieldsOf(replicaSet['status'])['replicas'])),
  }),
};
