import { type FileHandle, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { openGuestFile } from '../guest/guest-file.ts';
import type { LogStream } from '../logs/log-record.ts';
import type { LogWriter } from '../logs/log-writer.ts';
import { readAt } from '../logs/read-log.ts';
import type { Position } from './copy-checkpoint.ts';

const newline = 10;
const space = 32;

/**
 * How much of a block may be copied: whole lines. A line that fills the block is split, at a space in its second half if there is
 * one, so that a URL with a password stays whole. `isLast`: nothing follows.
 */
const copyableLength = (block: Buffer, isFull: boolean, isLast: boolean): number => {
  const lines = block.lastIndexOf(newline) + 1;
  if (lines > 0) return lines;
  if (!isFull) return isLast ? block.length : 0;
  const words = block.lastIndexOf(space) + 1;
  return words > block.length / 2 ? words : block.length;
};

/** A file that another process writes, and its stream in the log. */
interface TailSource {
  readonly folder: string;
  readonly name: string;
  readonly stream: LogStream;
  readonly clean?: (bytes: Buffer) => Buffer;
}

export interface CopyOptions {
  /** Nothing follows: an incomplete line counts too. */
  readonly isLast: boolean;
  /** Approximate limit. */
  readonly maxBytes: number;
  /** If more than this is pending, the start is skipped: the log would not keep it anyway. */
  readonly maxBehind: number;
  readonly writer: LogWriter;
  /** Called after each chunk that is in the log. */
  readonly onCopied: (position: Position) => Promise<void>;
}

export const blockSize = 64 * 1024;

const fileVersion = (path: string): Promise<string> =>
  lstat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    () => '',
  );

/** The start of the next line after `position`, so that no secret is split; `position` itself if the line does not end. */
const lineStart = async (file: FileHandle, position: number): Promise<number> =>
  position + (await readAt(file, position, blockSize)).indexOf(newline) + 1;

/**
 * Copies a file into a log, from where it stopped last time.
 *
 * The file may be a guest's: it may be missing, a link, a pipe, endless, replaced, or truncated, and differ with every call. An
 * unchanged file costs one lstat. The work per call is bounded.
 */
export const createTail = (source: TailSource, onRefused: (why: string) => void) => {
  const { folder, name, stream, clean = (bytes) => bytes } = source;
  /** Its version when there was nothing more to copy. */
  let lastVersion: string | undefined;
  let insideLine = false;

  const writeBytes = async (writer: LogWriter, bytes: Buffer): Promise<boolean> => {
    const isPart = bytes.at(-1) !== newline;
    await writer.write(stream, clean(bytes));
    const failed = writer.isFailing();
    // Text that the writer buffers would be lost if we are killed, but counts as copied.
    if (isPart) await writer.flush(stream);
    if (failed || writer.isFailing()) return false;
    insideLine = isPart;
    return true;
  };
  const endLine = async (writer: LogWriter): Promise<void> => {
    if (insideLine) await writeBytes(writer, Buffer.of(newline));
  };

  return {
    /** Returns whether anything was copied. Never advances past data that the writer could not write. */
    copy: async (from: Position, { isLast, maxBytes, maxBehind, writer, onCopied }: CopyOptions) => {
      const version = await fileVersion(join(folder, name));
      if (version === lastVersion && !isLast) return false;
      const opened = await openGuestFile(folder, name);
      if (opened.kind !== 'opened') {
        lastVersion = version;
        if (opened.kind === 'refused') onRefused(opened.reason);
        if (isLast) await endLine(writer);
        return false;
      }
      let copied = 0;
      try {
        const { ino, size } = await opened.file.stat();
        let { offset } = from;
        if (ino !== from.file || size < offset) {
          await endLine(writer);
          offset = 0;
        }
        if (size - offset > maxBehind) {
          const next = await lineStart(opened.file, size - maxBehind);
          await endLine(writer);
          if (
            !(await writeBytes(writer, Buffer.from(`[${next - offset} bytes are left out: more came than is kept]\n`)))
          )
            return false;
          offset = next;
          await onCopied({ file: ino, offset });
        }
        while (copied < maxBytes) {
          const block = await readAt(opened.file, offset, blockSize);
          const length = copyableLength(block, block.length === blockSize, isLast);
          if (length === 0) {
            lastVersion = version;
            break;
          }
          if (!(await writeBytes(writer, block.subarray(0, length)))) break;
          offset += length;
          copied += length;
          await onCopied({ file: ino, offset });
        }
        if (isLast) await endLine(writer);
      } finally {
        await opened.file.close();
      }
      return copied > 0;
    },
  };
};

export type Tail = ReturnType<typeof createTail>;
