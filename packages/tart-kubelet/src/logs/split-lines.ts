const newline = 10;

export interface Piece {
  readonly text: Buffer;
  /** A line end stood behind it. */
  readonly full: boolean;
}

/** Cuts what comes in arbitrary chunks into lines, and lines that are too long into pieces. */
export interface LineSplitter {
  /** What is complete by now. */
  push(chunk: Uint8Array): Piece[];
  /** What was left without a line end. */
  flush(): Piece[];
}

/** A line longer than this is kept in several records: one of a gigabyte must not be held in memory. */
export const longestPiece = 16 * 1024;

export const createLineSplitter = (longest = longestPiece): LineSplitter => {
  let held: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer, full: boolean): Piece => {
    const text = held.length === 0 ? last : Buffer.concat([...held, last]);
    held = [];
    size = 0;
    return { text, full };
  };
  return {
    push: (chunk) => {
      const bytes = Buffer.from(chunk);
      const pieces: Piece[] = [];
      let at = 0;
      while (at < bytes.length) {
        const room = at + longest - size;
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
    flush: () => (size === 0 ? [] : [take(Buffer.alloc(0), false)]),
  };
};
