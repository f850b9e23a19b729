import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Artifact } from './artifact.ts';

const pieceSize = 256 * 1024;

/** Reads a file through to know it by its content, in one buffer from its beginning to its end. Rejects when it cannot be read. */
export const artifactOf = async (file: string, name: string): Promise<Artifact> => {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(pieceSize);
  let size = 0;
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, pieceSize);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return { name, sha256: hash.digest('hex'), size, file };
};
