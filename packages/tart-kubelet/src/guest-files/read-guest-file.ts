import { openGuestFile } from './open-guest-file.ts';

export type GuestFileContent =
  /** `truncated`: there was more than we care to hold. */
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly truncated: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

/** At most `maxBytes` from the beginning of a file that a guest can write, however long it is or grows meanwhile. */
export const readGuestFile = async (folder: string, name: string, maxBytes: number): Promise<GuestFileContent> => {
  const opened = await openGuestFile(folder, name);
  if (opened.kind !== 'opened') return opened;
  const { file } = opened;
  try {
    // One byte more than allowed tells "just fits" from "too long"; its size is the guest's word and not asked for.
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { kind: 'read', bytes: buffer.subarray(0, Math.min(length, maxBytes)), truncated: length > maxBytes };
  } finally {
    await file.close();
  }
};
