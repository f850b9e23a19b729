import { type Cause, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { copy, type KubeObject } from '../../object.ts';
import type { View } from '../../resource.ts';
import type { Schema } from '../../schema/schema.ts';
import { printLabelSelector } from '../../selectors/label-requirement.ts';
import { labelSelectorMatches, requirementsOf } from '../../selectors/label-selector.ts';
import { childOf, type Fields, fieldsOf, numberOf, textOf, textsOf } from '../../unstructured.ts';
import { applySpecDefaults } from '../pods/defaults.ts';
import { validatePod } from '../pods/validate-spec.ts';
import { validateLabels, validateLabelSelector } from '../validation/metadata.ts';

/** Shared by all kinds with a Pod template. */

export const applyTemplateDefaults = (object: KubeObject): void => {
  const template = childOf(childOf(object, 'spec'), 'template');
  applySpecDefaults(childOf(template, 'spec'));
};

/** Applies the validation of Pods to the template. */
const validateTemplateSpec = (template: Fields): Cause[] =>
  validatePod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '' },
    spec: template['spec'],
  }).map((cause) => ({ ...cause, field: `spec.template.${cause.field}` }));

const validateTemplate = (template: Fields, kind: string, selector: Fields): Cause[] => {
  const labels = textsOf(fieldsOf(template['metadata'])['labels']);
  const spec = fieldsOf(template['spec']);
  const policy = textOf(spec['restartPolicy']);
  return [
    ...(labelSelectorMatches(selector, labels)
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...validateLabels(labels, 'spec.template.labels'),
    ...validateTemplateSpec(template),
    ...(policy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', policy, ['Always'])]),
    ...(spec['activeDeadlineSeconds'] === undefined
      ? []
      : [forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
};

/**
 * Validates selector and template, and that the selector matches the template's labels. `noun` is the real server's name for the kind here.
 */
export const validateSelectorAndTemplate = (spec: Fields, kind: string, noun: string): Cause[] => {
  if (spec['selector'] === undefined) return [required('spec.selector')];
  const selector = fieldsOf(spec['selector']);
  const wrong = validateLabelSelector(selector, 'spec.selector');
  if (wrong.length > 0) return [...wrong, invalid('spec.selector', selector as never, 'invalid label selector')];
  const isEmpty = Object.keys(selector).length === 0;
  return [
    ...(isEmpty ? [invalid('spec.selector', {}, `empty selector is invalid for ${noun}`)] : []),
    ...validateTemplate(fieldsOf(spec['template']), kind, selector),
  ];
};

export const notNegative = (fields: Fields, names: readonly string[], path: string): Cause[] =>
  names.flatMap((name) => {
    const value = fields[name];
    return typeof value === 'number' && value < 0
      ? [invalid(`${path}.${name}`, value, 'must be greater than or equal to 0')]
      : [];
  });

const read = (parent: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const spec = fieldsOf(parent['spec']);
  const replicas = numberOf(spec['replicas']);
  const selector = printLabelSelector(requirementsOf(fieldsOf(spec['selector'])));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    // Go omits zero.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberOf(fieldsOf(parent['status'])['replicas']), ...(selector === '' ? {} : { selector }) },
  };
};

/** `/scale` of a Deployment or ReplicaSet: the number of replicas. */
export const workloadScaleView = (schema: Schema | undefined): View => ({
  schema,
  read,
  write: (parent, edited) => {
    const next = copy(parent);
    childOf(next, 'spec')['replicas'] = numberOf(fieldsOf(edited['spec'])['replicas']);
    return next;
  },
  validate: (parent) => notNegative(fieldsOf(parent['spec']), ['replicas'], 'spec'),
});
