import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { bufferSize, takeBuffer } from '../connection/command-input.ts';

/** One file that is pushed to hosts, known by its content. Nothing of it is kept in memory. */
export interface Artifact {
  /** For people: `tart 2.32.1`. */
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  /** Where it lies on this side. */
  readonly file: string;
}

export const isArtifact = (value: unknown): value is Artifact =>
  typeof value === 'object' && value !== null && 'sha256' in value && 'file' in value;

const chunkSize = 256 * 1024;

/** Reads a file through to know it by its content, in one buffer from its beginning to its end. Rejects when it cannot be read. */
export const describeArtifact = async (file: string, name: string): Promise<Artifact> => {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(chunkSize);
  let size = 0;
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkSize);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return { name, sha256: hash.digest('hex'), size, file };
};

/** Changes whenever the file is written to, or another one takes its place under a handle that is still open. */
const fileVersion = async (handle: FileHandle): Promise<{ size: bigint; changed: string }> => {
  const { size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { size, changed: `${mtimeNs} ${ctimeNs}` };
};

async function* readChunks({ file, name, size }: Artifact): AsyncGenerator<Buffer> {
  const handle = await open(file);
  const different = (): Error => new Error(`${file} is no longer the ${name} that it was: it changed on our side`);
  try {
    const before = await fileVersion(handle);
    if (before.size !== BigInt(size)) throw different();
    let sent = 0;
    for (;;) {
      const buffer = takeBuffer();
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      sent += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    const after = await fileVersion(handle);
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
  Readable.from(readChunks(artifact), { objectMode: false, highWaterMark: bufferSize });
