import type { LogSpan } from './log-span.ts';
import { createRecordParser } from './parse-records.ts';

const firstWindow = 64 * 1024;

const readAll = async (span: LogSpan, from: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for (let at = from; at < span.size; ) {
    const part = await span.read(at, span.size - at);
    if (part.length === 0) break;
    parts.push(part);
    at += part.length;
  }
  return Buffer.concat(parts);
};

/** Where lines begin in the last `window` bytes, in order. A line that began before them is not among these. */
const lineStarts = async (span: LogSpan, window: number): Promise<number[]> => {
  const from = Math.max(0, span.size - window);
  const bytes = await readAll(span, from);
  const starts: number[] = from === 0 ? [0] : [];
  let last = from;
  for (const { record, end } of createRecordParser().push(bytes)) {
    if (record.full) starts.push(from + end);
    last = from + end;
  }
  // A line begins there only if something of it is there.
  return starts.filter((start) => start < last);
};

/** The position from which the last `count` lines are read. Looks at no more of the log than it must, but for rounding up. */
export const tailStart = async (span: LogSpan, count: number): Promise<number> => {
  if (count === 0) return span.size;
  for (let window = firstWindow; ; window *= 4) {
    const starts = await lineStarts(span, window);
    const start = starts.at(-count);
    if (start !== undefined) return start;
    if (window >= span.size) return 0;
  }
};
