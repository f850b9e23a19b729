import type { Image } from './host-pool.ts';

/** `macos-tahoe-26.3`, `Tahoe` and `tahoe` are the family `tahoe`. Spaces and dashes are ignored: `Golden Gate` is `goldengate`. */
export const osFamilyKey = (os: string): string =>
  os
    .toLowerCase()
    .trim()
    .replace(/^macos-/, '')
    .replace(/-\d.*$/s, '')
    .replaceAll(/[\s_-]/g, '');

/**
 * Whether an image is of the family that a pin names. By family, never by image: Scaleway retires images without notice, and a pin on one
 * would then empty the pool (INC-328).
 */
export const matchesFamily = (
  os: { readonly name: string; readonly family: string } | undefined,
  pin: string,
): boolean => {
  const wanted = osFamilyKey(pin);
  return os !== undefined && wanted !== '' && [osFamilyKey(os.family), osFamilyKey(os.name)].includes(wanted);
};

/** A pin with a version names an image, not a family: refused at claim, treated as its family at release (INC-328). */
export const isVersionedPin = (os: string): boolean => /\d/.test(os);

/** The newest image of a family; a beta only if there is nothing else (INC-328). */
export const newestImage = (images: readonly Image[], family: string): Image | undefined => {
  const candidates = images.filter((image) => matchesFamily(image, family));
  const released = candidates.filter((image) => !image.isBeta);
  return (released.length > 0 ? released : candidates).toSorted(newestFirst)[0];
};

/** For equal versions the id decides, so that the order of the catalogue does not matter. */
const newestFirst = (a: Image, b: Image): number => compareVersions(b.version, a.version) || (a.id < b.id ? -1 : 1);

/** By number, segment by segment; a segment with a suffix comes before the bare one: 26.7-beta < 26.7 < 26.7.1 < 26.10. */
export const compareVersions = (a: string, b: string): number => {
  const left = segmentsOf(a);
  const right = segmentsOf(b);
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const order = compareSegments(left[at], right[at]);
    if (order !== 0) return order;
  }
  return 0;
};

interface Segment {
  readonly number: number;
  readonly suffix: string;
}

const segmentsOf = (version: string): Segment[] =>
  version
    .trim()
    .split('.')
    .map((segment) => {
      const [, digits = '', suffix = ''] = /^(\d*)(.*)$/s.exec(segment) ?? [];
      return { number: digits === '' ? -1 : Number(digits), suffix };
    });

const compareSegments = (a: Segment | undefined, b: Segment | undefined): number => {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return Math.sign(a.number - b.number) || compareSuffixes(a.suffix, b.suffix);
};

const compareSuffixes = (a: string, b: string): number => {
  if (a === '' || b === '') return Number(a === '') - Number(b === '');
  return Math.sign(a.localeCompare(b, 'en', { numeric: true }));
};
