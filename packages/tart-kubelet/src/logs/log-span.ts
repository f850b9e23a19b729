import { type FileHandle, open } from 'node:fs/promises';
import { olderGeneration } from './log-files.ts';

/** The two generations of a log as one row of bytes, as they were when it was opened; `current` may grow meanwhile. */
export interface LogSpan {
  readonly size: number;
  /** As many bytes as there are, up to `length`. */
  read(position: number, length: number): Promise<Buffer>;
  /** Where in the younger file the row ends. */
  readonly currentSize: number;
  /** Hands the younger file to whoever goes on reading it, and closes it. */
  takeCurrent(): FileHandle;
  close(): Promise<void>;
}

/** undefined when there is no such file. */
export const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

export const readAt = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
};

const maxAttempts = 5;

/** undefined when there is no log. */
export const openLogSpan = async (path: string): Promise<LogSpan | undefined> => {
  for (let attempt = 1; ; attempt += 1) {
    const current = await openIfThere(path);
    const older = await openIfThere(olderGeneration(path));
    const [young, old] = [await current?.stat(), await older?.stat()];
    // Rotated between the two: what was opened first is the older one by now.
    if (attempt < maxAttempts && older && (current === undefined || young?.ino === old?.ino)) {
      await Promise.all([current?.close(), older.close()]);
      continue;
    }
    if (current === undefined) {
      await older?.close();
      return undefined;
    }
    const olderSize = old?.size ?? 0;
    const currentSize = young?.size ?? 0;
    let taken = false;
    return {
      size: olderSize + currentSize,
      currentSize,
      takeCurrent: () => {
        taken = true;
        return current;
      },
      read: async (position, length) => {
        if (older && position < olderSize) return readAt(older, position, Math.min(length, olderSize - position));
        return readAt(current, position - olderSize, Math.min(length, olderSize + currentSize - position));
      },
      close: async () => {
        await Promise.all([taken ? undefined : current.close(), older?.close()]);
      },
    };
  }
};
