import type { Random } from '@tartan/kube/clock';

/** No vowels, and nothing that looks like something else: names spell no words. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

export const randomSuffix = (random: Random): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)] ?? 'b').join('');

/** Names that are labels, too, are at most 63 characters long. */
export const nameWithSuffix = (base: string, suffix: string): string => `${`${base}-`.slice(0, 58)}${suffix}`;
