import { type Cause, forbidden, invalid, required } from '../status/cause.ts';
import { type Fields, listOf, objectsOf, textOf, textsOf } from './fields.ts';
import { validateLabels } from './metadata.ts';
import { qualifiedName, validLabelValue } from './names.ts';

const validateOperator = (operator: string, count: number, path: string): Cause[] => {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0
        ? [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
};

/** A selector as it stands in objects: `matchLabels` and `matchExpressions`. */
export const validateLabelSelector = (selector: Fields, path: string): Cause[] => [
  ...validateLabels(textsOf(selector['matchLabels']), `${path}.matchLabels`),
  ...objectsOf(selector['matchExpressions']).flatMap((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const values = listOf(expression['values']).map(textOf);
    const key = textOf(expression['key']);
    return [
      ...validateOperator(textOf(expression['operator']), values.length, at),
      ...qualifiedName(key).map((text) => invalid(`${at}.key`, key, text)),
      ...values.flatMap((value, number) =>
        validLabelValue(value).map((text) => invalid(`${at}.values[${number}]`, value, text)),
      ),
    ];
  }),
];
