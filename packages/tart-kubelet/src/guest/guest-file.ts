import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../file-errors.ts';

/**
 * A folder that is shared with a virtual machine belongs to whoever is in there: any name in it may be a link to a file of the host, a
 * pipe that nobody writes to, or a file of a terabyte, and may become another one between two looks at it.
 */
type OpenedGuestFile =
  | { readonly kind: 'opened'; readonly file: FileHandle }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** One name, not a path: of a path only the last part would be kept from being a link. */
const isPlainName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

/** Neither follows a link nor waits for a pipe's other end. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What the system says when the last part of a path is a link: Linux and macOS, and FreeBSD's word for it. */
const linkCodes = new Set(['ELOOP', 'EMLINK']);

/** Opens `name` in `folder`, which must be a folder of ours. The type is looked at behind the descriptor, so it cannot change after. */
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
  /** There was more than we care to hold. */
  readonly truncated: boolean;
}

type GuestFileContent = ({ readonly kind: 'read' } & FileHead) | Exclude<OpenedGuestFile, { kind: 'opened' }>;

/** One byte more than allowed tells "just fits" from "too long"; its size is the guest's word and not asked for. */
export const readAtMost = async (file: FileHandle, maxBytes: number): Promise<FileHead> => {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { bytes: buffer.subarray(0, Math.min(length, maxBytes)), truncated: length > maxBytes };
};

/** At most `maxBytes` from the beginning of a file that a guest can write, however long it is or grows meanwhile. */
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
