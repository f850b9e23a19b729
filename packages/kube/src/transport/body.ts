import type { Readable } from 'node:stream';

/**
 * The chunks of a stream, as they are asked for: who does not ask makes the sender wait. Leaving closes the stream, also before the
 * first chunk has been asked for (which a generator would not do).
 */
export const bodyOf = (stream: Readable, explain: (error: unknown) => Error): AsyncIterable<Uint8Array> => ({
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
