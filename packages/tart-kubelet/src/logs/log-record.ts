/**
 * How a line is kept: `2026-01-01T00:00:00.123000000Z stdout F text`, the format that Kubernetes' container runtimes write and log shippers
 * read. `P` instead of `F` says that the line goes on in the next record.
 */
export interface LogRecord {
  /** RFC 3339 with nine digits and `Z`: of equal length, so that it sorts as text. */
  readonly time: string;
  readonly stream: LogStream;
  /** Ends a line. */
  readonly full: boolean;
  readonly text: Buffer;
}

export type LogStream = 'stdout' | 'stderr';

/** `milliseconds` since the epoch, in the form of a record. */
export const formatLogTime = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 23)}000000Z`;

const headPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z) (stdout|stderr) ([FP]) $/;
const headLength = formatLogTime(0).length + ' stdout F '.length;
const newline = 10;

export const formatRecord = ({ time, stream, full, text }: LogRecord): Buffer =>
  Buffer.concat([Buffer.from(`${time} ${stream} ${full ? 'F' : 'P'} `), text, Buffer.of(newline)]);

/** A record without its line end; undefined for what is none, such as a line that a crash has cut. */
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
  /** A line end stood behind it. */
  readonly full: boolean;
}

/** A line longer than this is kept in several records: one of a gigabyte must not be held in memory. */
const maxPartBytes = 16 * 1024;

/** Cuts what comes in arbitrary chunks into lines, and lines that are too long into pieces. */
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
    /** What is complete by now. */
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
    /** What was left without a line end. */
    flush: () => (size === 0 ? [] : [take(Buffer.alloc(0), false)]),
  };
};

interface ReadRecord {
  readonly record: LogRecord;
  /** Bytes from the beginning of what was pushed up to behind this record. */
  readonly end: number;
}

/** No record is that long: it is not worth holding. */
const maxLineBytes = 2 * maxPartBytes;

/** Finds the records in what is pushed, and skips whatever is none. */
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
