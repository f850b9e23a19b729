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
export const logTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 23)}000000Z`;

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;
const timeLength = 30;
/** Time, blank, stream, blank, tag, blank. */
const headLength = timeLength + 1 + 'stdout'.length + 1 + 1 + 1;
const newline = 10;

export const formatRecord = ({ time, stream, full, text }: LogRecord): Buffer =>
  Buffer.concat([Buffer.from(`${time} ${stream} ${full ? 'F' : 'P'} `), text, Buffer.of(newline)]);

/** A record without its line end; undefined for what is none, such as a line that a crash has cut. */
export const parseRecord = (line: Buffer): LogRecord | undefined => {
  const head = line.toString('latin1', 0, headLength);
  const time = head.slice(0, timeLength);
  const stream = head.slice(timeLength + 1, timeLength + 7);
  const tag = head.slice(timeLength + 8, timeLength + 9);
  if (head.length < headLength || !timePattern.test(time) || (stream !== 'stdout' && stream !== 'stderr'))
    return undefined;
  if (tag !== 'F' && tag !== 'P') return undefined;
  if (head[timeLength] !== ' ' || head[timeLength + 7] !== ' ' || head[headLength - 1] !== ' ') return undefined;
  return { time, stream, full: tag === 'F', text: line.subarray(headLength) };
};
