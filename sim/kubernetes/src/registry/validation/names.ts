/** Rules for names, with the error texts of the real server. An empty list: valid. */

const regexText = (text: string, pattern: string, ...examples: string[]): string => {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`;
};

/** Lengths are in bytes, whatever the error texts say. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

const tooLong = (value: string, maximum: number, unit: 'characters' | 'bytes'): string[] =>
  byteLength(value) > maximum ? [`must be no more than ${maximum} ${unit}`] : [];

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const keyName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${keyName})?`;
const configKey = '[-._a-zA-Z0-9]+';
const isLabel = whole(label);
const isSubdomain = whole(subdomain);
const isKeyName = whole(keyName);
const isLabelValue = whole(labelValue);
const isConfigKey = whole(configKey);

const subdomainText = regexText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomain,
  'example.com',
);

export const dnsSubdomain = (value: string): string[] => [
  ...tooLong(value, 253, 'characters'),
  ...(isSubdomain.test(value) ? [] : [subdomainText]),
];

const labelText = regexText(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  label,
  'my-name',
  '123-abc',
);

export const dnsLabel = (value: string): string[] => [
  ...tooLong(value, 63, 'characters'),
  ...(isLabel.test(value) ? [] : [isSubdomain.test(value) ? 'must not contain dots' : labelText]),
];

/** Any segment of a URL path. `prefix`: a suffix will be added. */
export const pathSegment = (value: string, prefix = false): string[] => {
  if (!prefix && (value === '.' || value === '..')) return [`may not be '${value}'`];
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
};

const keyNameText = regexText(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  keyName,
  'MyName',
  'my.name',
  '123-abc',
);

/** A key of labels, annotations, finalizers or taints: a name, or `prefix/name`. */
export const qualifiedName = (value: string): string[] => {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${keyNameText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const [prefix] = parts.length === 2 ? parts : [];
  const prefixProblems = [
    ...(prefix === undefined || prefix !== '' ? [] : ['must be non-empty']),
    ...(prefix ? [...tooLong(prefix, 253, 'bytes'), ...(isSubdomain.test(prefix) ? [] : [subdomainText])] : []),
  ];
  const nameProblems = [
    ...(name === '' ? ['must be non-empty'] : tooLong(name, 63, 'bytes')),
    ...(isKeyName.test(name) ? [] : [keyNameText]),
  ];
  return [...prefixProblems.map((text) => `prefix part ${text}`), ...nameProblems.map((text) => `name part ${text}`)];
};

const labelValueText = regexText(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValue,
  'MyValue',
  'my_value',
  '12345',
);

export const validLabelValue = (value: string): string[] => [
  ...tooLong(value, 63, 'bytes'),
  ...(isLabelValue.test(value) ? [] : [labelValueText]),
];

const pathTraversal = (value: string): string[] => {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
};

const configKeyText = regexText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  configKey,
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** Keys of ConfigMaps and Secrets, which become file names. */
export const configMapKey = (value: string): string[] => [
  ...tooLong(value, 253, 'characters'),
  ...(isConfigKey.test(value) ? [] : [configKeyText]),
  ...pathTraversal(value),
];

export const environmentName = (value: string): string[] =>
  /^[\x20-\x3c\x3e-\x7e]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

export const portName = (value: string): string[] => [
  ...tooLong(value, 15, 'characters'),
  ...(/^[-a-z0-9]+$/.test(value) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
  ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(/^-|-$/.test(value) ? ['must not begin or end with a hyphen'] : []),
];

export const inRange = (value: number, low: number, high: number): string[] =>
  value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];

/** A `generateName` may end with a dash, since a suffix follows. */
export const asPrefix = (value: string): string =>
  value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value;

const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const isLabel1035 = new RegExp(`^${label1035}$`);
const label1035Text = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${label1035}')`;

/** Why a name is not a DNS-1035 label, in the words of the real server. */
export const dns1035Label = (value: string): string[] => [
  ...(Buffer.byteLength(value) > 63 ? ['must be no more than 63 characters'] : []),
  ...(isLabel1035.test(value) ? [] : [label1035Text]),
];
