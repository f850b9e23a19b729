import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A folder that is shared with a virtual machine belongs to whoever is in there: any name in it may be a link to a file of the host, a
 * pipe that nobody writes to, or a file of a terabyte, and may become another one between two looks at it.
 */
export type OpenedGuestFile =
  | { readonly kind: 'opened'; readonly file: FileHandle }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

/** One name, not a path: of a path only the last part would be kept from being a link. */
const isPlainName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

/** Neither follows a link nor waits for a pipe's other end. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What the system says when the last part of a path is a link: Linux and macOS, and FreeBSD's word for it. */
const linkCodes = new Set(['ELOOP', 'EMLINK']);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Opens `name` in `folder`, which must be a folder of ours. The type is looked at behind the descriptor, so it cannot change after. */
export const openGuestFile = async (folder: string, name: string): Promise<OpenedGuestFile> => {
  if (!isPlainName(name)) return { kind: 'refused', why: 'it is not the name of a file' };
  let file: FileHandle;
  try {
    file = await open(join(folder, name), flags);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return { kind: 'missing' };
    return {
      kind: 'refused',
      why: linkCodes.has(code) ? 'it is a link' : `it cannot be opened (${code || 'unknown'})`,
    };
  }
  try {
    if ((await file.stat()).isFile()) return { kind: 'opened', file };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return { kind: 'refused', why: 'it is no regular file' };
};
