import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Artifact } from './artifact.ts';

const pieceSize = 256 * 1024;

/** Reads a file through to know it by its content. Rejects when it cannot be read. */
export const artifactOf = async (file: string, name: string): Promise<Artifact> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(file, { highWaterMark: pieceSize })) {
    const bytes: Buffer = piece;
    hash.update(bytes);
    size += bytes.length;
  }
  return { name, sha256: hash.digest('hex'), size, file };
};
