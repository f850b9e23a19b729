import type { FileHandle } from 'node:fs/promises';
import { openGuestFile } from './open-guest-file.ts';

interface Beginning {
  readonly bytes: Buffer;
  /** There was more than we care to hold. */
  readonly truncated: boolean;
}

export type GuestFileContent =
  | ({ readonly kind: 'read' } & Beginning)
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

/** One byte more than allowed tells "just fits" from "too long"; its size is the guest's word and not asked for. */
export const readAtMost = async (file: FileHandle, maxBytes: number): Promise<Beginning> => {
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
