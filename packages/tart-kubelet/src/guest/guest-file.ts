import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-errors.ts';

/**
 * A folder shared with a VM is under the control of its guest: any name in it may be a link to a file of the host, a pipe without a
 * writer, or a file of a terabyte, and may change between two calls.
 */
type OpenedGuestFile =
  | { readonly kind: 'opened'; readonly file: FileHandle }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** A name, not a path: O_NOFOLLOW protects only the last part of a path. */
const isPlainName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

/** Does not follow a link or block on a pipe. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Error codes for a link as the last part of a path: Linux and macOS, and FreeBSD. */
const linkCodes = new Set(['ELOOP', 'EMLINK']);

/** Opens `name` in `folder`, which only the agent may replace. Checks the type on the descriptor, so it cannot change afterwards. */
export const openGuestFile = async (folder: string, name: string): Promise<OpenedGuestFile> => {
  if (!isPlainName(name)) return { kind: 'refused', reason: 'it is not the name of a file' };
  let file: FileHandle;
  try {
    file = await open(join(folder, name), openFlags);
  } catch (error) {
    const code = errorCode(error) ?? 'unknown';
    if (code === 'ENOENT') return { kind: 'missing' };
    return {
      kind: 'refused',
      reason: linkCodes.has(code) ? 'it is a link' : `it cannot be opened (${code})`,
    };
  }
  try {
    if ((await file.stat()).isFile()) return { kind: 'opened', file };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return { kind: 'refused', reason: 'it is no regular file' };
};

interface FileHead {
  readonly bytes: Buffer;
  /** The file is longer than the limit. */
  readonly truncated: boolean;
}

type GuestFileContent = ({ readonly kind: 'read' } & FileHead) | Exclude<OpenedGuestFile, { kind: 'opened' }>;

/** Most of these files are shorter. A buffer as large as the limit would be zeroed and collected for each of them. */
const pieceBytes = 1024;

/** Reads one byte more than allowed to detect longer files; the file's size comes from the guest, so it is not used. */
export const readAtMost = async (file: FileHandle, maxBytes: number): Promise<FileHead> => {
  const pieces: Buffer[] = [];
  let length = 0;
  while (length <= maxBytes) {
    const room = Buffer.allocUnsafe(Math.min(pieceBytes, maxBytes + 1 - length));
    const { bytesRead } = await file.read(room, 0, room.length, length);
    pieces.push(room.subarray(0, bytesRead));
    length += bytesRead;
    // The end of a regular file.
    if (bytesRead < room.length) break;
  }
  return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), truncated: length > maxBytes };
};

/** At most `maxBytes` from the start of a file that a guest can write, however long it is or grows. */
export const readGuestFile = async (folder: string, name: string, maxBytes: number): Promise<GuestFileContent> => {
  const opened = await openGuestFile(folder, name);
  if (opened.kind !== 'opened') return opened;
  const { file } = opened;
  try {
    return { kind: 'read', ...(await readAtMost(file, maxBytes)) };
  } finally {
    await file.close();
  }
};
