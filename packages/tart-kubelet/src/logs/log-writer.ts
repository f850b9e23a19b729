import { type FileHandle, open, rename } from 'node:fs/promises';
import type { Clock } from '@tartan/kube/clock';
import { rotatedPath } from './log-files.ts';
import type { LogNotifier } from './log-notifier.ts';
import { createLineSplitter, formatLogTime, formatRecord, type LinePart, type LogStream } from './log-record.ts';

export interface LogWriterOptions {
  path: string;
  clock: Clock;
  notifier: LogNotifier;
  /** A file is rotated before it exceeds this. At most two files exist. 10 MiB by default. */
  maxBytes?: number;
  /** Called once when writing starts to fail; lines are dropped until it works again. */
  onError?: (error: unknown) => void;
}

const defaultMaxBytes = 10 * 1024 * 1024;

interface OpenFile {
  file: FileHandle;
  size: number;
}

/** A crash may have left a partial record: start on a new line. */
const openAtEnd = async (path: string): Promise<OpenFile> => {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    if (bytesRead === 0 || buffer.toString() === '\n') return { file, size };
    await file.appendFile('\n');
    return { file, size: size + 1 };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/**
 * Writes the output of a VM with a time per line.
 * Guarantees: lines of one stream stay in order; a record is never split over two files; never rejects, since a full disk must not
 * stop the VM's output. Caveat: output is lost while writing fails.
 */
export const createLogWriter = (options: LogWriterOptions) => {
  const { path, clock, notifier, maxBytes = defaultMaxBytes, onError } = options;
  const splitters = { stdout: createLineSplitter(), stderr: createLineSplitter() };
  let opened: OpenFile | undefined;
  let closed = false;
  let failing = false;
  let last: Promise<void> = Promise.resolve();

  const closeFile = async (): Promise<void> => {
    const { file } = opened ?? {};
    opened = undefined;
    await file?.close();
  };

  const append = async (records: readonly Buffer[]): Promise<void> => {
    let batch: Buffer[] = [];
    let current = (opened ??= await openAtEnd(path));
    const flush = async (): Promise<void> => {
      await current.file.appendFile(Buffer.concat(batch));
      batch = [];
    };
    for (const record of records) {
      if (current.size > 0 && current.size + record.length > maxBytes) {
        await flush();
        await closeFile();
        await rename(path, rotatedPath(path));
        opened = await openAtEnd(path);
        current = opened;
      }
      batch.push(record);
      current.size += record.length;
    }
    await flush();
  };

  const enqueue = (stream: LogStream, pieces: readonly LinePart[]): Promise<void> => {
    if (pieces.length === 0) return last;
    const time = formatLogTime(clock.now());
    const records = pieces.map(({ text, full }) => formatRecord({ time, stream, full, text }));
    last = last.then(async () => {
      try {
        await append(records);
        failing = false;
      } catch (error) {
        if (!failing) onError?.(error);
        failing = true;
        await closeFile().catch(() => {});
      }
      notifier.notify();
    });
    return last;
  };

  const flushStream = (stream: LogStream): Promise<void> => enqueue(stream, splitters[stream].flush());

  return {
    /** Resolves when the data is written, so awaiting it limits the caller to the disk's speed. */
    write: (stream: LogStream, chunk: Uint8Array) => (closed ? last : enqueue(stream, splitters[stream].push(chunk))),
    /** Writes an incomplete line as a partial record, so that nothing is only in memory. */
    flush: flushStream,
    /** Whether the last write failed. A caller that has the text elsewhere can write it again. */
    isFailing: () => failing,
    /** Writes what is left and closes the file. Idempotent. */
    close: async () => {
      closed = true;
      await flushStream('stdout');
      await flushStream('stderr');
      await closeFile();
      notifier.notify();
    },
  };
};

export type LogWriter = ReturnType<typeof createLogWriter>;
