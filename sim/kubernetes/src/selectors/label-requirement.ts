const nameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const valueFormat = `(${nameFormat})?`;
const subdomainFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

const whole = (format: string): RegExp => new RegExp(`^(?:${format})$`);
const namePattern = whole(nameFormat);
const valuePattern = whole(valueFormat);
const subdomainPattern = whole(subdomainFormat);

const longestPart = 63;
const longestPrefix = 253;

const bytes = (text: string): number => Buffer.byteLength(text);
const tooLong = (limit: number): string => `must be no more than ${limit} bytes`;
const mismatch = (rule: string, format: string, ...examples: string[]): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${format}')`;

const nameRule = mismatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  nameFormat,
  'MyName',
  'my.name',
  '123-abc',
);
const valueRule = mismatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  valueFormat,
  'MyValue',
  'my_value',
  '12345',
);
const subdomainRule = mismatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainFormat,
  'example.com',
);

const prefixErrors = (prefix: string): string[] => {
  if (prefix === '') return ['must be non-empty'];
  return [
    ...(bytes(prefix) > longestPrefix ? [tooLong(longestPrefix)] : []),
    ...(subdomainPattern.test(prefix) ? [] : [subdomainRule]),
  ];
};

const nameErrors = (name: string): string[] => [
  ...(name === '' ? ['must be non-empty'] : []),
  ...(bytes(name) > longestPart ? [tooLong(longestPart)] : []),
  ...(namePattern.test(name) ? [] : [nameRule]),
];

/** Errors in the key of a label or annotation, in the server's words. */
const labelKeyErrors = (key: string): string[] => {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    return [`a valid label key ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  return [
    ...(parts.length === 2 ? prefixErrors(parts[0] ?? '').map((fault) => `prefix part ${fault}`) : []),
    ...nameErrors(name).map((fault) => `name part ${fault}`),
  ];
};

/** Errors in the value of a label. */
const labelValueErrors = (value: string): string[] => [
  ...(bytes(value) > longestPart ? [tooLong(longestPart)] : []),
  ...(valuePattern.test(value) ? [] : [valueRule]),
];

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One requirement of a label selector. `values` is sorted and has no duplicates. */
export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  values: readonly string[];
}

const invalid = (path: string, value: string, detail: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${detail}`;

/** Error in a key, before the rest is parsed. `<nil>` is how Go prints the missing field path. */
export const keyError = (key: string): string | undefined => {
  const faults = labelKeyErrors(key);
  return faults.length === 0 ? undefined : invalid('<nil>', key, faults.join('; '));
};

/** A 64-bit integer, as Go parses it. */
const integer = (text: string): bigint | undefined => {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
};

/** Errors in the values, as one text. */
export const valueError = ({ key, operator, values }: LabelRequirement): string | undefined => {
  const faults: string[] = [];
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (integer(value) === undefined) {
        faults.push(invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    }
  }
  for (const [index, value] of values.entries()) {
    const wrong = labelValueErrors(value);
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

/** `!=` and `notin` also match objects without the label. */
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
