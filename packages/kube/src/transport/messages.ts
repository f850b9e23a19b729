import type { RawData, WebSocket } from 'ws';

/** Messages that may wait for their reader before the sender has to. */
const room = 16;

const bytesOf = (data: RawData): Uint8Array => {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
};

/**
 * What arrives on a WebSocket, in order. It ends when the other side closes, and throws what `explain` makes of a broken connection,
 * after everything that came before. One reader.
 */
export const messagesOf = (socket: WebSocket, explain: (error: unknown) => Error): AsyncIterable<Uint8Array> => {
  const queue: Uint8Array[] = [];
  let end: { error?: Error } | undefined;
  let wake = (): void => {};

  socket.on('message', (data: RawData) => {
    queue.push(bytesOf(data));
    if (queue.length >= room) socket.pause();
    wake();
  });
  socket.on('error', (error) => {
    end ??= { error: explain(error) };
    wake();
  });
  socket.on('close', (code) => {
    // 1006: no closing handshake, the connection just went away.
    end ??= code === 1006 ? { error: explain(new Error('the connection was closed without a goodbye')) } : {};
    wake();
  });

  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    for (;;) {
      const message = queue.shift();
      if (message) {
        if (queue.length === 0 && socket.isPaused) socket.resume();
        return { done: false, value: message };
      }
      if (end?.error) throw end.error;
      if (end) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    socket.close();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
};
