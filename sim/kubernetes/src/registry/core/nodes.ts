import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { copy, type Json, type KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { childOf, type Fields, fieldsOf, listOf, objectsOf, textOf, textsOf } from '../../unstructured.ts';
import { taintEffects } from '../pods/validate-spec.ts';
import { validateResourceAmount } from '../validation/compute-resources.ts';
import { validateKindMetadataUpdate, validateMetadata } from '../validation/metadata.ts';
import { byteLength, qualifiedName, validLabelValue } from '../validation/names.ts';

const resource = { group: '', plural: 'nodes', kind: 'Node', namespaced: false };

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A taint as the real server prints its internal type. */
const printedTaint = (taint: Fields): Json => ({
  Key: textOf(taint['key']),
  Value: textOf(taint['value']),
  Effect: textOf(taint['effect']),
  TimeAdded: textOf(taint['timeAdded']) || null,
});

/** The field path is `metadata`, as in the real server. */
const validateTaints = (taints: unknown): Cause[] => {
  const seen = new Set<string>();
  return objectsOf(taints).flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const [key, value, effect] = [textOf(taint['key']), textOf(taint['value']), textOf(taint['effect'])];
    const valueProblems = validLabelValue(value);
    const pair = `${key} ${effect}`;
    const known = seen.has(pair);
    seen.add(pair);
    const repeated = duplicate(at, printedTaint(taint));
    return [
      ...qualifiedName(key).map((text) => invalid(`${at}.key`, key, text)),
      ...(valueProblems.length > 0 ? [invalid(`${at}.value`, value, valueProblems.join(';'))] : []),
      ...(effect === '' ? [required(`${at}.effect`)] : []),
      ...(effect === '' || taintEffects.includes(effect) ? [] : [notSupported(`${at}.effect`, effect, taintEffects)]),
      ...(known ? [{ ...repeated, message: `${repeated.message}: taints must be unique by key and effect pair` }] : []),
    ];
  });
};

const validateAmounts = (status: Fields): Cause[] =>
  ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(textsOf(status[list])).flatMap(([name, amount]) =>
      validateResourceAmount(name, amount, `status.${list}.${name}`),
    ),
  );

const featureText =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

const featureProblem = (feature: string): string | undefined => {
  if (byteLength(feature) > 253) return `invalid feature name "${feature}": must be no more than 253 characters`;
  return /^([A-Z][a-zA-Z0-9]*)(\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(feature)
    ? undefined
    : `invalid feature name "${feature}": ${featureText}`;
};

const validateFeatures = (status: Fields): Cause[] => {
  const features = listOf(status['declaredFeatures']).map(textOf);
  return features.flatMap((feature, index) => {
    const problem = featureProblem(feature);
    const next = features[index + 1];
    const nextField = `status.declaredFeatures[${index + 1}]`;
    return [
      ...(problem === undefined ? [] : [invalid(`status.declaredFeatures[${index}]`, feature, problem)]),
      ...(next === feature ? [duplicate(nextField, feature)] : []),
      ...(next !== undefined && feature > next ? [invalid(nextField, next, 'list must be sorted alphabetically')] : []),
    ];
  });
};

const validateAddresses = (status: Fields): Cause[] => {
  const seen = new Set<string>();
  return objectsOf(status['addresses']).flatMap((entry, index) => {
    const shown = { Type: textOf(entry['type']), Address: textOf(entry['address']) };
    const key = JSON.stringify(shown);
    const known = seen.has(key);
    seen.add(key);
    return known ? [duplicate(`status.addresses[${index}]`, shown)] : [];
  });
};

const validateNode = (node: KubeObject): Cause[] => {
  const status = fieldsOf(node['status']);
  return [...validateTaints(fieldsOf(node['spec'])['taints']), ...validateAmounts(status), ...validateFeatures(status)];
};

const validateNodeUpdate = (node: KubeObject, old: KubeObject): Cause[] => {
  const [spec, before, status] = [fieldsOf(node['spec']), fieldsOf(old['spec']), fieldsOf(node['status'])];
  const provider = textOf(before['providerID']);
  const ranges = listOf(before['podCIDRs']);
  const changedRanges = ranges.length > 0 && listOf(spec['podCIDRs']).join() !== ranges.join();
  return [
    ...validateKindMetadataUpdate(node, old, resource),
    ...validateAmounts(status),
    ...validateFeatures(status),
    ...validateAddresses(status),
    ...(changedRanges
      ? [forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')]
      : []),
    ...(provider !== '' && provider !== textOf(spec['providerID'])
      ? [forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : []),
    ...validateTaints(spec['taints']),
    ...(textOf(spec['externalID']) === textOf(before['externalID'])
      ? []
      : [forbidden('spec.externalID', 'may not be updated')]),
  ];
};

/** Synchronises `podCIDR` and `podCIDRs`; the single one wins. */
const alignRanges = (spec: Fields): void => {
  const first = textOf(listOf(spec['podCIDRs'])[0]);
  const single = textOf(spec['podCIDR']);
  if (single === '' && first !== '') spec['podCIDR'] = first;
  else if (single !== first) spec['podCIDRs'] = [single];
};

export const nodeStrategy: Strategy = {
  ...plainStrategy,
  hasStatus: true,
  statusMayChangeMetadata: true,
  applyDefaults: (node) => {
    alignRanges(childOf(node, 'spec'));
    const status = childOf(node, 'status');
    if (status['capacity'] !== undefined) status['allocatable'] ??= copy(status['capacity']);
  },
  prepareForCreate: (node) => {
    const spec = childOf(node, 'spec');
    delete spec['configSource'];
    delete childOf(node, 'status')['config'];
    const taints = objectsOf(spec['taints']);
    const tainted = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect);
    if (!tainted) spec['taints'] = [...taints, { ...notReady }];
  },
  prepareForUpdate: (node, old) => {
    if (fieldsOf(old['spec'])['configSource'] === undefined) delete childOf(node, 'spec')['configSource'];
  },
  prepareForStatusUpdate: (node, old) => {
    if (fieldsOf(old['status'])['config'] === undefined) delete childOf(node, 'status')['config'];
  },
  validate: (node, old) =>
    old
      ? [...validateMetadata(node, resource), ...validateNode(node), ...validateNodeUpdate(node, old)]
      : validateNode(node),
  validateStatus: validateNodeUpdate,
  selectableFields: (node) => ({ 'spec.unschedulable': String(fieldsOf(node['spec'])['unschedulable'] === true) }),
};
