import { isDict, type PlistValue } from '../launchd/plist.ts';

/** Whatever is more than letters, digits and underscores is put in quotes. */
const word = (text: string): string =>
  /^\w+$/.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** The form of property lists from before XML, in which `defaults read` answers: booleans are 1 and 0 in it. */
export const oldStyle = (value: PlistValue, indent = ''): string => {
  const inner = `${indent}    `;
  if (typeof value === 'string') return word(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') return String(value);
  if (isDict(value)) {
    const lines = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${inner}${word(key)} = ${oldStyle(each, inner)};\n`);
    return `{\n${lines.join('')}${indent}}`;
  }
  return `(\n${value.map((each) => `${inner}${oldStyle(each, inner)}`).join(',\n')}${value.length === 0 ? '' : '\n'}${indent})`;
};
