import { equal, isObject } from '../../object.ts';

/** Changed fields, one line for what was and one for what is wanted. */
const lines = (before: unknown, after: unknown, path: string): string[] => {
  if (equal(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => lines(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => lines(item, after[index], `${path}[${index}]`));
  }
  const line = (sign: string, value: unknown): string[] =>
    value === undefined ? [] : [`${sign} ${JSON.stringify(path)}: ${JSON.stringify(value)},`];
  return [...line('-', before), ...line('+', after)];
};

/** What of a spec somebody wants to change. The real server shows its inner form of it here, which is nobody's contract. */
export const specDifference = (before: unknown, after: unknown): string =>
  lines(before, after, '')
    .map((line) => `${line}\n`)
    .join('');
