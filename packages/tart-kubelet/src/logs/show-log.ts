import type { LogRecord } from './log-line.ts';

export interface ShowOptions {
  /** Each line begins with its time. */
  timestamps?: boolean | undefined;
  /** Nothing older than this, in the form of a record's time. */
  since?: string | undefined;
  /** Not a byte more than this. */
  limitBytes?: number | undefined;
}

const newline = Buffer.from('\n');

/** A log as people see it. Of a line that was kept in pieces only the first has the time. */
export async function* showLog(blocks: AsyncIterable<LogRecord[]>, options: ShowOptions): AsyncGenerator<Buffer> {
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
