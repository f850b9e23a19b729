import { type Cause, forbidden, invalid, required } from '../../errors/field-errors.ts';
import type { Json } from '../../object.ts';
import { compareQuantities, isWhole } from '../../quantity.ts';
import { fieldsOf, textsOf } from '../../unstructured.ts';
import { qualifiedName } from './names.ts';

/** Names of compute resources: cpu, memory, `example.com/vm`. */

const computeResources = ['cpu', 'memory', 'ephemeral-storage'];
const objectCounts = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const standardResources = [
  ...computeResources.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  ...objectCounts,
  'storage',
  'requests.storage',
];

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;

/** Whether a request may be less than its limit. */
const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

const validateContainerResourceName = (name: string, field: string): Cause[] => {
  const problems = qualifiedName(name).map((text) => invalid(field, name, text));
  if (name.includes('/')) {
    const refused = !isNative(name) && !isExtended(name);
    return [...problems, ...(refused ? [invalid(field, name, "doesn't follow extended resource name standard")] : [])];
  }
  if (problems.length === 0 && !standardResources.includes(name) && !isHugePages(name)) {
    problems.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
  }
  if (!computeResources.includes(name) && !isHugePages(name)) {
    problems.push(invalid(field, name, 'must be a standard resource for containers'));
  }
  return problems;
};

export const validateResourceAmount = (name: string, amount: string, field: string): Cause[] => {
  const shown: Json = amount;
  return [
    ...(compareQuantities(amount, '0') < 0 ? [invalid(field, shown, 'must be greater than or equal to 0')] : []),
    ...((objectCounts.includes(name) || isExtended(name)) && !isWhole(amount)
      ? [invalid(field, shown, 'must be an integer')]
      : []),
  ];
};

const validateAgainstLimit = (name: string, amount: string, limit: string | undefined, path: string): Cause[] => {
  const overcommit = isOvercommitAllowed(name);
  if (limit === undefined) {
    return overcommit ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const difference = compareQuantities(amount, limit);
  if (difference !== 0 && !overcommit) {
    return [invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  }
  return difference > 0
    ? [invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)]
    : [];
};

/** Validates requests and limits of a container. */
export const validateResources = (value: unknown, path: string): Cause[] => {
  const limits = textsOf(fieldsOf(value)['limits']);
  const requests = textsOf(fieldsOf(value)['requests']);
  const amount = (list: string, name: string, text: string): Cause[] => {
    const field = `${path}.${list}[${name}]`;
    return [...validateContainerResourceName(name, field), ...validateResourceAmount(name, text, field)];
  };
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const lonelyHugePages = names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
  return [
    ...Object.entries(limits).flatMap(([name, text]) => amount('limits', name, text)),
    ...Object.entries(requests).flatMap(([name, text]) => [
      ...amount('requests', name, text),
      ...validateAgainstLimit(name, text, limits[name], path),
    ]),
    ...(lonelyHugePages ? [forbidden(path, 'HugePages require cpu or memory')] : []),
  ];
};
