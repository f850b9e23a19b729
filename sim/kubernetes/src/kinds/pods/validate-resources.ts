import { compareQuantities } from '../../quantity.ts';
import { type Cause, forbidden, invalid, required } from '../../status/cause.ts';
import { fieldsOf, textsOf } from '../fields.ts';
import {
  isHugePages,
  isOvercommitAllowed,
  validateContainerResourceName,
  validateResourceAmount,
} from '../resource-names.ts';

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

/** What a container asks for and may use at most. */
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
