import type { Json } from '../object.ts';
import { compareQuantities, isWhole } from '../quantity.ts';
import { type Cause, invalid } from '../status/cause.ts';
import { qualifiedName } from './names.ts';

/** Names of what can be counted out to Pods: cpu, memory, `example.com/vm`. */

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

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;

/** A request for it may be less than its limit. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

export const validateContainerResourceName = (name: string, field: string): Cause[] => {
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
