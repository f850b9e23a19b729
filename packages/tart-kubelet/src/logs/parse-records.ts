import { type LogRecord, parseRecord } from './log-line.ts';
import { longestPiece } from './split-lines.ts';

interface ReadRecord {
  readonly record: LogRecord;
  /** Bytes from the beginning of what was pushed up to behind this record. */
  readonly end: number;
}

/** Finds the records in what is pushed, and skips whatever is none. */
export interface RecordParser {
  push(bytes: Buffer): ReadRecord[];
}

const newline = 10;
/** No record is that long: it is not worth holding. */
const longestLine = 2 * longestPiece;

export const createRecordParser = (): RecordParser => {
  let held: Buffer = Buffer.alloc(0);
  let position = 0;
  return {
    push: (bytes) => {
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
      if (held.length > longestLine) {
        position += held.length;
        held = Buffer.alloc(0);
      }
      return found;
    },
  };
};
