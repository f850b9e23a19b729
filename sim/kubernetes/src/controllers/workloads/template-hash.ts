import { copy, equal } from '../../object.ts';
import { hashLabel, type PodTemplate } from './shapes.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** FNV-1a over 32 bits. */
const fnv = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

const withoutHash = (template: PodTemplate): PodTemplate => {
  const plain = copy(template);
  delete plain.metadata?.labels?.[hashLabel];
  return plain;
};

/** Equal but for the label that tells them apart. */
export const sameTemplate = (a: PodTemplate, b: PodTemplate): boolean => equal(withoutHash(a), withoutHash(b));

/**
 * A short word for a template, free of letters that could spell another. The real controller hashes what Go prints of the template, so
 * its words are others; nobody may rely on them. `collisions` makes a new word when an old one is taken.
 */
export const templateHash = (template: PodTemplate, collisions = 0): string =>
  String(fnv(JSON.stringify(sorted(withoutHash(template))) + (collisions > 0 ? `#${collisions}` : ''))).replaceAll(
    /\d/g,
    (digit) => alphabet[digit.charCodeAt(0) % alphabet.length] ?? '',
  );
