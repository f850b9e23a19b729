import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** What a download must be, by its content: as projects publish it (SHA-256 in hex), or as npm does (`sha512-` in base64). */
export type Checksum = { readonly sha256: string } | { readonly integrity: string };

/** Reads as it is written everywhere else, so that people can compare it. */
export const checksumText = (sum: Checksum): string => ('sha256' in sum ? `sha256 ${sum.sha256}` : sum.integrity);

export const sameChecksum = (one: Checksum, other: Checksum): boolean => checksumText(one) === checksumText(other);

/** Computes a sum of the same kind as another. */
export interface ChecksumHash {
  readonly hash: Hash;
  readonly sum: () => Checksum;
}

export const createChecksumHash = (kind: 'sha256' | 'integrity'): ChecksumHash => {
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha512');
  return {
    hash,
    sum: () => (kind === 'sha256' ? { sha256: hash.digest('hex') } : { integrity: `sha512-${hash.digest('base64')}` }),
  };
};

export const checksumKindOf = (sum: Checksum): 'sha256' | 'integrity' => ('sha256' in sum ? 'sha256' : 'integrity');

export const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};
