import { labelKeyFaults, labelValueFaults } from './label-rules.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One condition of a label selector. `values` is sorted and has no duplicates. */
export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  values: readonly string[];
}

const invalid = (path: string, value: string, detail: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${detail}`;

/** The fault of a key on its own, before anything behind it is read. Go prints the missing field path so. */
export const keyFault = (key: string): string | undefined => {
  const faults = labelKeyFaults(key);
  return faults.length === 0 ? undefined : invalid('<nil>', key, faults.join('; '));
};

/** A whole number of 64 bits, as Go reads it. */
const integer = (text: string): bigint | undefined => {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
};

/** What is wrong with the values, as one text. */
export const valueFault = ({ key, operator, values }: LabelRequirement): string | undefined => {
  const faults: string[] = [];
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (integer(value) === undefined) {
        faults.push(invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    }
  }
  for (const [index, value] of values.entries()) {
    const wrong = labelValueFaults(value);
    if (wrong.length > 0) faults.push(invalid(`values[${index}][${key}]`, value, wrong.join('; ')));
  }
  if (faults.length === 0) return undefined;
  return faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
};

const symbols = { '=': '=', '==': '==', '!=': '!=', gt: '>', lt: '<' } as const;

/** The text that parses to these requirements. */
export const printLabelSelector = (requirements: readonly LabelRequirement[]): string =>
  requirements
    .map(({ key, operator, values }) => {
      if (operator === 'exists') return key;
      if (operator === '!') return `!${key}`;
      if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(',')})`;
      return `${key}${symbols[operator]}${values.join(',')}`;
    })
    .join(',');

/** `!=` and `notin` also match what has no such label. */
export const requirementMatches = (
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === '!') return value === undefined;
  if (operator === '!=' || operator === 'notin') return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === 'exists') return true;
  if (operator !== 'gt' && operator !== 'lt') return values.includes(value);
  const actual = integer(value);
  const bound = integer(values[0] ?? '');
  if (actual === undefined || bound === undefined) return false;
  return operator === 'gt' ? actual > bound : actual < bound;
};
