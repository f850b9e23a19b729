const label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const isLabel = new RegExp(`^${label}$`);
const text = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${label}')`;

/** What keeps a name from being a DNS-1035 label, in the words of the real server. */
export const labelProblems = (value: string): string[] => [
  ...(Buffer.byteLength(value) > 63 ? ['must be no more than 63 characters'] : []),
  ...(isLabel.test(value) ? [] : [text]),
];
