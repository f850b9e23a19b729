import { KubeError } from '../errors/kube-error.ts';
import { decodeText } from '../transport/collect.ts';

const newline = 0x0a;

export interface Frame {
  text: string;
  /** Whether its newline has come; the last one may have been cut off. */
  complete: boolean;
}

/**
 * The lines of a stream, however its chunks fall: a newline byte is never part of a longer UTF-8 sequence, so bytes are cut first
 * and decoded afterwards. Empty lines are skipped. What follows the last newline is a line too.
 * KubeError `malformed` for a line longer than `largest` bytes, before more of it is kept.
 */
export async function* framesOf(chunks: AsyncIterable<Uint8Array>, largest: number): AsyncGenerator<Frame> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const keep = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > largest) {
      throw new KubeError('malformed', `An event of the Kubernetes API is longer than ${largest} bytes`);
    }
    pieces.push(piece);
  };
  const take = (): string => {
    const [only] = pieces;
    const text = decodeText(only && pieces.length === 1 ? only : Buffer.concat(pieces, length));
    pieces = [];
    length = 0;
    return text;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line.trim() !== '') yield { text: line, complete: true };
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  const rest = take();
  if (rest.trim() !== '') yield { text: rest, complete: false };
}
