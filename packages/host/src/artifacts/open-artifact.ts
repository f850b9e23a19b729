import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { bufferSize, takeBuffer } from '../connection/buffer-pool.ts';
import type { Artifact } from './artifact.ts';

/** Changes whenever the file is written to, or another one takes its place under a handle that is still open. */
const stateOf = async (handle: FileHandle): Promise<{ size: bigint; changed: string }> => {
  const { size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { size, changed: `${mtimeNs} ${ctimeNs}` };
};

async function* pieces({ file, name, size }: Artifact): AsyncGenerator<Buffer> {
  const handle = await open(file);
  const different = (): Error => new Error(`${file} is no longer the ${name} that it was: it changed on our side`);
  try {
    const before = await stateOf(handle);
    if (before.size !== BigInt(size)) throw different();
    let sent = 0;
    for (;;) {
      const buffer = takeBuffer();
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      sent += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    const after = await stateOf(handle);
    if (sent !== size || after.changed !== before.changed) throw different();
  } finally {
    await handle.close();
  }
}

/**
 * The content of an artifact, for one push: each has a handle and one small buffer of its own.
 * Guarantees: ends without an error only if the file had its size and was not written to meanwhile.
 * Caveats: a file that changed before, and kept its size, is not noticed here but by the hash that the host computes: to hash it
 * here as well would take a seventh of the speed of every push.
 */
export const openArtifact = (artifact: Artifact): Readable =>
  Readable.from(pieces(artifact), { objectMode: false, highWaterMark: bufferSize });
