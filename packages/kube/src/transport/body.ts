import type { Readable } from 'node:stream';
import { KubeError } from '../errors/kube-error.ts';

/**
 * The chunks of a stream, with backpressure. An early return closes the stream, even before the first chunk was requested (a
 * generator would not do that).
 */
export const readChunks = (stream: Readable, explain: (error: unknown) => Error): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          const { done, value } = await chunks.next();
          if (done !== true && value instanceof Uint8Array) return { done: false, value };
          return { done: true, value: undefined };
        } catch (error) {
          throw explain(error);
        }
      },
      return: async () => {
        stream.destroy();
        return { done: true, value: undefined };
      },
    };
  },
});

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes bytes; throws KubeError `malformed` for invalid UTF-8 instead of inserting replacement characters. */
export const decodeText = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new KubeError('malformed', 'The answer of the Kubernetes API is not UTF-8', { cause: error });
  }
};

/** Reads a whole body. Throws KubeError `malformed` when it exceeds `largest` bytes, without reading the rest. */
export const collectBytes = async (body: AsyncIterable<Uint8Array>, largest: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > largest) {
      throw new KubeError('malformed', `The answer of the Kubernetes API is longer than ${largest} bytes`);
    }
    chunks.push(chunk);
  }
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks, length);
};

export const collectText = async (body: AsyncIterable<Uint8Array>, largest: number): Promise<string> =>
  decodeText(await collectBytes(body, largest));
