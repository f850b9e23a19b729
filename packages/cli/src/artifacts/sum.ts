import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** What a download must be, by its content: as projects publish it (SHA-256 in hex), or as npm does (`sha512-` in base64). */
export type Sum = { readonly sha256: string } | { readonly integrity: string };

/** Reads as it is written everywhere else, so that people can compare it. */
export const sumText = (sum: Sum): string => ('sha256' in sum ? `sha256 ${sum.sha256}` : sum.integrity);

export const isSame = (one: Sum, other: Sum): boolean => sumText(one) === sumText(other);

/** Computes a sum of the same kind as another. */
export interface Summing {
  readonly hash: Hash;
  readonly sum: () => Sum;
}

export const summing = (kind: 'sha256' | 'integrity'): Summing => {
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha512');
  return {
    hash,
    sum: () => (kind === 'sha256' ? { sha256: hash.digest('hex') } : { integrity: `sha512-${hash.digest('base64')}` }),
  };
};

export const kindOf = (sum: Sum): 'sha256' | 'integrity' => ('sha256' in sum ? 'sha256' : 'integrity');

export const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};
