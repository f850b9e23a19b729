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
 * How much of a block that was read may be copied: whole lines. A line that fills the block is taken in parts, at a blank if there is
 * one in its second half, so that an address with a password in it is seen whole. `isLast`: nothing more will come behind it.
 */
const copyableLength = (block: Buffer, isFull: boolean, isLast: boolean): number => {
  const lines = block.lastIndexOf(newline) + 1;
  if (lines > 0) return lines;
  if (!isFull) return isLast ? block.length : 0;
  const words = block.lastIndexOf(space) + 1;
  return words > block.length / 2 ? words : block.length;
};

/** A file that somebody else writes, and what becomes of it. */
interface TailSource {
  readonly folder: string;
  readonly name: string;
  readonly stream: LogStream;
  readonly clean?: (bytes: Buffer) => Buffer;
}

export interface CopyOptions {
  /** Nothing more will come: an unfinished line is one as well. */
  readonly isLast: boolean;
  /** At most about so many bytes. */
  readonly maxBytes: number;
  /** More than this is not kept anyway: the beginning of it is left out. */
  readonly maxBehind: number;
  readonly writer: LogWriter;
  /** After each chunk that is in the log. */
  readonly onCopied: (position: Position) => Promise<void>;
}

export const blockSize = 64 * 1024;

const fileVersion = (path: string): Promise<string> =>
  lstat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    () => '',
  );

/** The next line after `position`, so that no secret is cut in two; `position` itself in a line that does not end. */
const lineStart = async (file: FileHandle, position: number): Promise<number> =>
  position + (await readAt(file, position, blockSize)).indexOf(newline) + 1;

/**
 * Copies a file into a log, from where it stopped the last time.
 *
 * The file may be a guest's: it may be missing, a link, a pipe, endless, replaced, or cut, and another one at each look. A look at one
 * that has not changed costs one lstat. What is done in one look is bounded.
 */
export const createTail = (source: TailSource, onRefused: (why: string) => void) => {
  const { folder, name, stream, clean = (bytes) => bytes } = source;
  /** As it was when there was nothing more to copy. */
  let lastVersion: string | undefined;
  let insideLine = false;

  const writeBytes = async (writer: LogWriter, bytes: Buffer): Promise<boolean> => {
    const isPart = bytes.at(-1) !== newline;
    await writer.write(stream, clean(bytes));
    const failed = writer.isFailing();
    // What the writer would hold back is lost when we are killed, and counts as copied.
    if (isPart) await writer.flush(stream);
    if (failed || writer.isFailing()) return false;
    insideLine = isPart;
    return true;
  };
  const endLine = async (writer: LogWriter): Promise<void> => {
    if (insideLine) await writeBytes(writer, Buffer.of(newline));
  };

  return {
    /** Whether anything was copied. Never moves on over what the writer could not keep. */
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
