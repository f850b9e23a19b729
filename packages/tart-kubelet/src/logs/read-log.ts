import { type FileHandle, open, stat } from 'node:fs/promises';
import { undefinedIfMissing } from '../file-errors.ts';
import { rotatedPath } from './log-files.ts';
import type { LogNotifier } from './log-notifier.ts';
import { createRecordParser, type LogRecord } from './log-record.ts';

/** Both files of a log as one sequence of bytes, at the time of opening; `current` may grow meanwhile. */
interface LogSnapshot {
  readonly size: number;
  /** Up to `length` bytes. */
  read(position: number, length: number): Promise<Buffer>;
  /** The end of the sequence in the current file. */
  readonly currentSize: number;
  /** Transfers ownership of the current file to the caller, who closes it. */
  takeCurrent(): FileHandle;
  close(): Promise<void>;
}

/** undefined if the file does not exist. */
export const openIfPresent = (path: string): Promise<FileHandle | undefined> => undefinedIfMissing(open(path, 'r'));

export const readAt = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
};

const maxAttempts = 5;

/** undefined if there is no log. */
const openLogSnapshot = async (path: string): Promise<LogSnapshot | undefined> => {
  for (let attempt = 1; ; attempt += 1) {
    const current = await openIfPresent(path);
    const older = await openIfPresent(rotatedPath(path));
    const [young, old] = [await current?.stat(), await older?.stat()];
    // A rotation happened in between: the first opened file is the rotated one by now.
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

/** The offset of the last `count` lines. */
const tailOffset = async (span: LogSnapshot, count: number): Promise<number> => {
  if (count === 0) return span.size;
  const parser = createRecordParser();
  const lineStarts = [0];
  let last = 0;
  for await (const block of readBlocks(span, 0))
    for (const { record, end } of parser.push(block)) {
      if (record.full) lineStarts.push(end);
      last = end;
    }
  // A line counts only if it has at least one byte.
  return lineStarts.filter((start) => start < last).at(-count) ?? 0;
};

interface ReadLogOptions {
  /** Only the last lines. All by default. */
  tailLines?: number | undefined;
  follow?: FollowOptions | undefined;
}

export interface FollowOptions {
  readonly notifier: LogNotifier;
  /** Whether the writer has ended; called before each read, so that the last lines are not missed. */
  readonly ended: () => boolean;
  readonly signal: AbortSignal;
}

const blockSize = 64 * 1024;

/** Reads from `position` to the current end. Returns the end offset. */
async function* readToEnd(file: FileHandle, position: number): AsyncGenerator<Buffer, number> {
  for (let at = position; ; ) {
    const block = await readAt(file, at, blockSize);
    if (block.length === 0) return at;
    at += block.length;
    yield block;
  }
}

async function* readBlocks(span: LogSnapshot, position: number): AsyncGenerator<Buffer> {
  for (let at = position; at < span.size; ) {
    const block = await span.read(at, blockSize);
    if (block.length === 0) return;
    at += block.length;
    yield block;
  }
}

/** The bytes of a log that is being written, across rotations. Takes ownership of `first`. */
async function* followLog(
  path: string,
  first: FileHandle,
  from: number,
  follow: FollowOptions,
): AsyncGenerator<Buffer> {
  const { notifier, ended, signal } = follow;
  let file = first;
  let position = from;
  try {
    while (!signal.aborted) {
      const seen = notifier.version();
      const over = ended();
      // Checked before reading the rest: a rotated file gets no more lines.
      const { ino } = await file.stat();
      const isRotated = (await stat(path).catch(() => undefined))?.ino !== ino;
      position = yield* readToEnd(file, position);
      if (!isRotated) {
        if (over) return;
        await notifier.wait(seen, signal);
        continue;
      }
      // After several rotations there is another file between ours and the current one.
      const between = await openIfPresent(rotatedPath(path));
      try {
        if (between && (await between.stat()).ino !== ino) yield* readToEnd(between, 0);
      } finally {
        await between?.close();
      }
      const next = await openIfPresent(path);
      // The log was removed with its Pod.
      if (next === undefined) return;
      await file.close();
      file = next;
      position = 0;
    }
  } finally {
    await file.close();
  }
}

/** A follower may start before the log exists. */
const waitForLog = async (
  path: string,
  { notifier, ended, signal }: FollowOptions,
): Promise<LogSnapshot | undefined> => {
  for (;;) {
    const seen = notifier.version();
    const over = signal.aborted || ended();
    const span = await openLogSnapshot(path);
    if (span || over) return span;
    await notifier.wait(seen, signal);
  }
};

/** The records of a log in blocks. Without a log it yields nothing, or waits for it with `follow`. */
export async function* readLogRecords(path: string, options: ReadLogOptions): AsyncGenerator<LogRecord[]> {
  const { tailLines, follow } = options;
  const parser = createRecordParser();
  const recordsIn = (block: Buffer): LogRecord[] => parser.push(block).map(({ record }) => record);
  const span = follow ? await waitForLog(path, follow) : await openLogSnapshot(path);
  if (span === undefined) return;
  try {
    const start = tailLines === undefined ? 0 : await tailOffset(span, tailLines);
    for await (const block of readBlocks(span, start)) yield recordsIn(block);
    if (!follow) return;
    const next = followLog(path, span.takeCurrent(), span.currentSize, follow);
    for await (const block of next) yield recordsIn(block);
  } finally {
    await span.close();
  }
}

export interface FormatOptions {
  /** Prefix each line with its time. */
  timestamps?: boolean | undefined;
  /** The minimum time, in the log's time format. */
  since?: string | undefined;
  /** Maximum number of bytes. */
  limitBytes?: number | undefined;
}

const newline = Buffer.from('\n');

/** A log as users see it. Of a split line only the first part has the time. */
export async function* formatLog(blocks: AsyncIterable<LogRecord[]>, options: FormatOptions): AsyncGenerator<Buffer> {
  const { timestamps = false, since = '', limitBytes = Number.POSITIVE_INFINITY } = options;
  let room = limitBytes;
  let atLineStart = true;
  for await (const records of blocks) {
    const parts: Buffer[] = [];
    for (const { time, full, text } of records) {
      if (time < since) continue;
      if (timestamps && atLineStart) parts.push(Buffer.from(`${time} `));
      parts.push(text);
      if (full) parts.push(newline);
      atLineStart = full;
    }
    const shown = Buffer.concat(parts);
    if (shown.length >= room) {
      yield shown.subarray(0, room);
      return;
    }
    room -= shown.length;
    if (shown.length > 0) yield shown;
  }
}
