/**
 * A log line: `2026-01-01T00:00:00.123000000Z stdout F text`, the CRI log format that log shippers read. `P` instead of `F` means that the
 * line continues in the next record.
 */
export interface LogRecord {
  /** RFC 3339 with nine digits and `Z`: fixed length, so it sorts as text. */
  readonly time: string;
  readonly stream: LogStream;
  /** Whether it ends a line. */
  readonly full: boolean;
  readonly text: Buffer;
}

export type LogStream = 'stdout' | 'stderr';

/** `milliseconds` since the epoch, in the log's time format. */
export const formatLogTime = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 23)}000000Z`;

const headPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z) (stdout|stderr) ([FP]) $/;
const headLength = formatLogTime(0).length + ' stdout F '.length;
const newline = 10;

export const formatRecord = ({ time, stream, full, text }: LogRecord): Buffer =>
  Buffer.concat([Buffer.from(`${time} ${stream} ${full ? 'F' : 'P'} `), text, Buffer.of(newline)]);

/** Parses a record without its newline; undefined for an invalid line, such as one truncated by a crash. */
export const parseRecord = (line: Buffer): LogRecord | undefined => {
  const [, time, stream, tag] = headPattern.exec(line.toString('latin1', 0, headLength)) ?? [];
  if (time === undefined) return undefined;
  return {
    time,
    stream: stream === 'stdout' ? 'stdout' : 'stderr',
    full: tag === 'F',
    text: line.subarray(headLength),
  };
};

export interface LinePart {
  readonly text: Buffer;
  /** Whether it ended with a newline. */
  readonly full: boolean;
}

/** Longer lines are split into several records, to bound the memory. */
const maxPartBytes = 16 * 1024;

/** Splits arbitrary chunks into lines, and long lines into parts. */
export const createLineSplitter = (maxBytes = maxPartBytes) => {
  let held: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer, full: boolean): LinePart => {
    const text = held.length === 0 ? last : Buffer.concat([...held, last]);
    held = [];
    size = 0;
    return { text, full };
  };
  return {
    /** Returns the complete lines so far. */
    push: (chunk: Uint8Array) => {
      const bytes = Buffer.from(chunk);
      const pieces: LinePart[] = [];
      let at = 0;
      while (at < bytes.length) {
        const room = at + maxBytes - size;
        const end = bytes.indexOf(newline, at);
        if (end !== -1 && end <= room) {
          pieces.push(take(bytes.subarray(at, end), true));
          at = end + 1;
        } else if (room < bytes.length) {
          pieces.push(take(bytes.subarray(at, room), false));
          at = room;
        } else {
          held.push(bytes.subarray(at));
          size += bytes.length - at;
          break;
        }
      }
      return pieces;
    },
    /** Returns the rest without a newline. */
    flush: () => (size === 0 ? [] : [take(Buffer.alloc(0), false)]),
  };
};

interface ReadRecord {
  readonly record: LogRecord;
  /** End offset of this record, from the start of all pushed bytes. */
  readonly end: number;
}

/** Longer than any record: not buffered. */
const maxLineBytes = 2 * maxPartBytes;

/** Finds the records in the pushed bytes, and skips anything else. */
export const createRecordParser = () => {
  let held: Buffer = Buffer.alloc(0);
  let position = 0;
  return {
    push: (bytes: Buffer) => {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const found: ReadRecord[] = [];
      let at = 0;
      for (let end = all.indexOf(newline); end !== -1; end = all.indexOf(newline, at)) {
        const record = parseRecord(all.subarray(at, end));
        at = end + 1;
        if (record) found.push({ record, end: position + at });
      }
      position += at;
      held = all.subarray(at);
      if (held.length > maxLineBytes) {
        position += held.length;
        held = Buffer.alloc(0);
      }
      return found;
    },
  };
};
