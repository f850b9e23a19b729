import { type FileHandle, stat } from 'node:fs/promises';
import type { LogChanges } from './log-changes.ts';
import { olderGeneration } from './log-files.ts';
import type { LogRecord } from './log-line.ts';
import { type LogSpan, openIfThere, openLogSpan, readAt } from './log-span.ts';
import { createRecordParser } from './parse-records.ts';
import { tailStart } from './tail-start.ts';

export interface ReadLogOptions {
  /** Only the last so many lines; all unless told. */
  tailLines?: number | undefined;
  follow?: Follow | undefined;
}

export interface Follow {
  readonly changes: LogChanges;
  /** Nothing will be written any more; asked before each look, so that the last lines are not missed. */
  readonly ended: () => boolean;
  readonly signal: AbortSignal;
}

const blockSize = 64 * 1024;

/** From `position` to the end as it is when it is reached. Answers with where that is. */
async function* rest(file: FileHandle, position: number): AsyncGenerator<Buffer, number> {
  for (let at = position; ; ) {
    const block = await readAt(file, at, blockSize);
    if (block.length === 0) return at;
    at += block.length;
    yield block;
  }
}

async function* spanBlocks(span: LogSpan, position: number): AsyncGenerator<Buffer> {
  for (let at = position; at < span.size; ) {
    const block = await span.read(at, blockSize);
    if (block.length === 0) return;
    at += block.length;
    yield block;
  }
}

const inodeOf = async (path: string): Promise<number | undefined> => {
  try {
    return (await stat(path)).ino;
  } catch {
    return undefined;
  }
};

/** The bytes of a log that is being written, over its rotations. Owns `first` from here on. */
async function* followed(path: string, first: FileHandle, from: number, follow: Follow): AsyncGenerator<Buffer> {
  const { changes, ended, signal } = follow;
  let file = first;
  let position = from;
  try {
    while (!signal.aborted) {
      const seen = changes.count(path);
      const over = ended();
      // Before the rest is read: what is rotated away by now has got its last line.
      const { ino } = await file.stat();
      const isRotated = (await inodeOf(path)) !== ino;
      position = yield* rest(file, position);
      if (!isRotated) {
        if (over) return;
        await changes.wait(path, seen, signal);
        continue;
      }
      // Perhaps more than once: then there is a generation between ours and the one that is being written.
      const between = await openIfThere(olderGeneration(path));
      try {
        if (between && (await between.stat()).ino !== ino) yield* rest(between, 0);
      } finally {
        await between?.close();
      }
      const next = await openIfThere(path);
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

/** Who follows a log may be early. */
const awaitLog = async (path: string, { changes, ended, signal }: Follow): Promise<LogSpan | undefined> => {
  for (;;) {
    const seen = changes.count(path);
    const over = signal.aborted || ended();
    const span = await openLogSpan(path);
    if (span || over) return span;
    await changes.wait(path, seen, signal);
  }
};

/** The records of a log, block by block. Nothing when there is no log, unless it is followed: then it may still come. */
export async function* readRecords(path: string, options: ReadLogOptions): AsyncGenerator<LogRecord[]> {
  const { tailLines, follow } = options;
  const parser = createRecordParser();
  const recordsIn = (block: Buffer): LogRecord[] => parser.push(block).map(({ record }) => record);
  const span = follow ? await awaitLog(path, follow) : await openLogSpan(path);
  if (span === undefined) return;
  try {
    const start = tailLines === undefined ? 0 : await tailStart(span, tailLines);
    for await (const block of spanBlocks(span, start)) yield recordsIn(block);
    if (!follow) return;
    const next = followed(path, span.takeCurrent(), span.currentSize, follow);
    for await (const block of next) yield recordsIn(block);
  } finally {
    await span.close();
  }
}
