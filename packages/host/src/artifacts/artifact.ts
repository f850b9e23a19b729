import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { bufferSize, takeBuffer } from '../connection/command-input.ts';

/** A file that is pushed to hosts, identified by its SHA-256. Its content is not kept in memory. */
export interface Artifact {
  /** For people: `tart 2.32.1`. */
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  /** Its local path. */
  readonly file: string;
}

export const isArtifact = (value: unknown): value is Artifact =>
  typeof value === 'object' && value !== null && 'sha256' in value && 'file' in value;

const chunkSize = 256 * 1024;

/** Hashes a file, with one buffer for the whole file. Rejects when it cannot be read. */
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

/** Changes when the file is written to, or when it is replaced while the handle is open. */
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
 * The content of an artifact, for one push. Each push has its own handle and one small buffer.
 * Guarantees: ends without an error only if the file had its size and was not written to meanwhile.
 * Caveats: a file that changed earlier but kept its size is detected only by the hash that the host computes: hashing it here as well
 * would cost a seventh of the speed of every push.
 */
export const openArtifact = (artifact: Artifact): Readable =>
  Readable.from(readChunks(artifact), { objectMode: false, highWaterMark: bufferSize });
