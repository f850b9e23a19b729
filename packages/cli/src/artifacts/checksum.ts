import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** The form in which a checksum is published: SHA-256 in hex, or the SHA-512 integrity of npm. */
export type ChecksumKind = 'sha256' | 'integrity';

const sha256Prefix = 'sha256 ';

export const newHash = (kind: ChecksumKind): Hash => createHash(kind === 'sha256' ? 'sha256' : 'sha512');

/** `sha256 HEX` or `sha512-BASE64`. */
export const checksumOf = (kind: ChecksumKind, hash: Hash): string =>
  kind === 'sha256' ? sha256Checksum(hash.digest('hex')) : `sha512-${hash.digest('base64')}`;

export const sha256Checksum = (hex: string): string => `${sha256Prefix}${hex}`;

/** The hexadecimal digits of a SHA-256 checksum. Undefined for an integrity. */
export const sha256Hex = (checksum: string): string | undefined =>
  checksum.startsWith(sha256Prefix) ? checksum.slice(sha256Prefix.length) : undefined;

export const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};
