/** Reads untrusted JSON without assumptions about its types. */

export type JsonRecord = Record<string, unknown>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const recordIn = (value: unknown, field: string): JsonRecord | undefined => {
  const found = isRecord(value) ? value[field] : undefined;
  return isRecord(found) ? found : undefined;
};

export const textIn = (value: unknown, field: string): string | undefined => {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === 'string' ? found : undefined;
};

export const numberIn = (value: unknown, field: string): number | undefined => {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
};

export const listIn = (value: unknown, field: string): readonly unknown[] => {
  const found: unknown = isRecord(value) ? value[field] : undefined;
  return Array.isArray(found) ? found : [];
};

/** undefined for invalid JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Safe to print: one line, no control characters, not too long. */
export const printable = (text: string, longest: number): string => {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
};

/** `users[2].user.token`: the path of a zod issue. */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');
