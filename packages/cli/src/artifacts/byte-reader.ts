/** Reads exact numbers of bytes off chunks of any length. */
export interface ByteReader {
  /** So many bytes, or undefined where there are none left. Rejects when it ends in between. */
  exactly(count: number): Promise<Buffer | undefined>;
  /** The next so many bytes as they come, to be read to the end before anything else. */
  next(count: number): AsyncGenerator<Buffer>;
}

export const byteReader = (chunks: AsyncIterable<Buffer>, { most }: { most: number }): ByteReader => {
  const iterator = chunks[Symbol.asyncIterator]();
  let left: Buffer = Buffer.alloc(0);
  let read = 0;
  const fill = async (): Promise<boolean> => {
    while (left.length === 0) {
      const { done, value } = await iterator.next();
      if (done === true) return false;
      read += value.length;
      // What unpacks to far more than it should is meant to fill a disk.
      if (read > most) throw new Error(`it unpacks to more than ${most} bytes.`);
      left = value;
    }
    return true;
  };
  async function* next(count: number): AsyncGenerator<Buffer> {
    for (let open = count; open > 0; ) {
      if (!(await fill())) throw new Error('it ends in the middle.');
      const piece = left.subarray(0, open);
      left = left.subarray(piece.length);
      open -= piece.length;
      yield piece;
    }
  }
  return {
    next,
    exactly: async (count) => {
      if (!(await fill())) return undefined;
      const pieces: Buffer[] = [];
      for await (const piece of next(count)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
  };
};
