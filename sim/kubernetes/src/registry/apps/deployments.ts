import { type Cause, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { copy, equal, type Json, type KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { childOf, type Fields, fieldsOf, fill, numberOf, textOf } from '../../unstructured.ts';
import { applyTemplateDefaults, notNegative, validateSelectorAndTemplate } from './workload.ts';

const applyDefaults = (deployment: KubeObject): void => {
  const spec = childOf(deployment, 'spec');
  spec['replicas'] ??= 1;
  const strategy = childOf(spec, 'strategy');
  fill(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = childOf(strategy, 'rollingUpdate');
    rolling['maxUnavailable'] ??= '25%';
    rolling['maxSurge'] ??= '25%';
  }
  spec['revisionHistoryLimit'] ??= 10;
  spec['progressDeadlineSeconds'] ??= 600;
  applyTemplateDefaults(deployment);
};

const isPercent = (value: unknown): value is string => typeof value === 'string' && /^[0-9]+%$/.test(value);

const percentText = "a valid percent string must be a numeric string followed by an ending '%'";

const validateAmount = (value: unknown, field: string): Cause[] => {
  if (typeof value === 'string')
    return isPercent(value)
      ? []
      : [invalid(field, value, `${percentText} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`)];
  return numberOf(value) < 0 ? [invalid(field, numberOf(value), 'must be greater than or equal to 0')] : [];
};

const isZero = (value: unknown): boolean => value === 0 || value === '0%';

const validateRollingUpdate = (rolling: Fields): Cause[] => {
  const at = 'spec.strategy.rollingUpdate';
  const { maxUnavailable, maxSurge } = rolling;
  const most = isPercent(maxUnavailable) && Number.parseInt(maxUnavailable, 10) > 100;
  return [
    ...validateAmount(maxUnavailable, `${at}.maxUnavailable`),
    ...validateAmount(maxSurge, `${at}.maxSurge`),
    ...(isZero(maxUnavailable) && isZero(maxSurge)
      ? [invalid(`${at}.maxUnavailable`, maxUnavailable as Json, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...(most ? [invalid(`${at}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%')] : []),
  ];
};

const validateStrategy = (strategy: Fields): Cause[] => {
  const type = textOf(strategy['type']);
  const rolling = strategy['rollingUpdate'];
  if (type === 'Recreate')
    return rolling === undefined
      ? []
      : [forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")];
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy.type', type, ['Recreate', 'RollingUpdate'])];
  return rolling === undefined ? [required('spec.strategy.rollingUpdate')] : validateRollingUpdate(fieldsOf(rolling));
};

const validateDeadline = (spec: Fields): Cause[] => {
  const [deadline, ready] = [numberOf(spec['progressDeadlineSeconds']), numberOf(spec['minReadySeconds'])];
  return [
    ...notNegative(spec, ['progressDeadlineSeconds'], 'spec'),
    ...(deadline <= ready
      ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
      : []),
  ];
};

const validateSpec = (spec: Fields): Cause[] => [
  ...notNegative(spec, ['replicas'], 'spec'),
  ...validateSelectorAndTemplate(spec, 'Deployment', 'deployment'),
  ...validateStrategy(fieldsOf(spec['strategy'])),
  ...notNegative(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec'),
  ...validateDeadline(spec),
];

/** The selector is immutable: existing ReplicaSets were created with it. */
export const keepSelector = (object: KubeObject, old: KubeObject): Cause[] => {
  const [now, before] = [fieldsOf(object['spec'])['selector'], fieldsOf(old['spec'])['selector']];
  return equal(now, before) ? [] : [invalid('spec.selector', now as Json, 'field is immutable')];
};

export const deploymentStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  hasGeneration: true,
  statusMayChangeMetadata: true,
  applyDefaults,
  prepareForCreate: (deployment) => {
    deployment['status'] = {};
  },
  prepareForUpdate: (deployment, old) => {
    // The controller copies annotations to the ReplicaSets, so a change must raise the generation.
    if (equal(deployment.metadata.annotations, old.metadata.annotations)) return;
    deployment.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  prepareForStatusUpdate: (deployment, old) => {
    if (old.metadata.labels) deployment.metadata.labels = copy(old.metadata.labels);
    else delete deployment.metadata.labels;
  },
  validate: (deployment, old) => [
    ...validateSpec(fieldsOf(deployment['spec'])),
    ...(old ? keepSelector(deployment, old) : []),
  ],
  validateStatus: (deployment) =>
    notNegative(
      fieldsOf(deployment['status']),
      [
        'observedGeneration',
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
      ],
      'status',
    ),
};
