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

const prefixFaults = (prefix: string): string[] => {
  if (prefix === '') return ['must be non-empty'];
  return [
    ...(bytes(prefix) > longestPrefix ? [tooLong(longestPrefix)] : []),
    ...(subdomainPattern.test(prefix) ? [] : [subdomainRule]),
  ];
};

const nameFaults = (name: string): string[] => [
  ...(name === '' ? ['must be non-empty'] : []),
  ...(bytes(name) > longestPart ? [tooLong(longestPart)] : []),
  ...(namePattern.test(name) ? [] : [nameRule]),
];

/** What is wrong with the key of a label or annotation, in the server's words; empty if nothing is. */
export const labelKeyFaults = (key: string): string[] => {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    return [`a valid label key ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  return [
    ...(parts.length === 2 ? prefixFaults(parts[0] ?? '').map((fault) => `prefix part ${fault}`) : []),
    ...nameFaults(name).map((fault) => `name part ${fault}`),
  ];
};

/** What is wrong with the value of a label. */
export const labelValueFaults = (value: string): string[] => [
  ...(bytes(value) > longestPart ? [tooLong(longestPart)] : []),
  ...(valuePattern.test(value) ? [] : [valueRule]),
];
