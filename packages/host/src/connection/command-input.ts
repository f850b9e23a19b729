import type { Socket } from 'node:net';
import { pipeline, type Readable, Writable } from 'node:stream';
import type { ClientChannel } from 'ssh2';

/**
 * A pool of buffers for reading files, instead of a new one for every chunk: a third less garbage. Returning a buffer is optional.
 */
const freeBuffers: ArrayBuffer[] = [];
const lentBuffers = new WeakSet<ArrayBufferLike>();

/** Three packets of SSH. Less costs speed (one packet: a quarter of it), more costs memory. */
export const bufferSize = 96 * 1024;

/** Buffers beyond this number, from a burst of pushes, are freed. */
const maxFreeBuffers = 64;

export const takeBuffer = (): Buffer => {
  const bytes = freeBuffers.pop() ?? new ArrayBuffer(bufferSize);
  lentBuffers.add(bytes);
  return Buffer.from(bytes);
};

/** Returns the buffer that contains `piece` to the pool, if it came from there. The content must not be used any more. */
export const returnBuffer = ({ buffer }: Buffer): void => {
  if (!(buffer instanceof ArrayBuffer) || !lentBuffers.delete(buffer) || freeBuffers.length >= maxFreeBuffers) return;
  freeBuffers.push(buffer);
};

const pendingWrites: (() => void)[] = [];

const runNextWrite = (): void => {
  pendingWrites.shift()?.();
  if (pendingWrites.length > 0) setImmediate(runNextWrite);
};

/**
 * Runs the work of all connections in order, one item per turn of the event loop.
 *
 * Encrypting a piece leaves three times its size as garbage. With many streams in one turn of the loop, the garbage collector runs too
 * late: sixteen streams took up to 285 MB, and take about 155 MB one by one, at the same speed. Other work can also run in between, such
 * as renewing a Lease.
 */
export const oncePerTick = (work: () => void): void => {
  if (pendingWrites.push(work) === 1) setImmediate(runNextWrite);
};

/** Bytes that may wait in the socket of a host. Enough to keep a fast host busy. */
const maxSocketBytes = 64 * 1024;

/**
 * Sends `input` to a command, then closes the command's input. Calls `failed` when the input could not be read; a command that does not
 * read all of it is no failure. The returned function stops, and destroys the input.
 *
 * An SSH channel buffers 2 MB in its own queue and another 2 MB (the window of OpenSSH) in the socket's, even when the socket is full:
 * with many slow hosts that adds up. So the next piece is read only when at most `maxSocketBytes` of the one before wait in the socket.
 */
export const sendInput = (
  input: Readable,
  channel: ClientChannel,
  socket: Socket,
  failed: (cause: Error) => void,
): (() => void) => {
  const sink = new Writable({
    // One piece at a time: the input has already read the next one.
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, done) =>
      oncePerTick(() => {
        if (sink.destroyed) return;
        // One system call for all packets of a piece instead of three for each.
        socket.cork();
        channel.write(piece, () => {
          // Copied into packets by now.
          returnBuffer(piece);
          if (socket.writableLength <= maxSocketBytes) done();
          else socket.once('drain', done);
        });
        socket.uncork();
      }),
    final: (done) => {
      channel.end();
      done();
    },
  });
  let stopped = false;
  // Errors of a destroyed input are ignored.
  input.on('error', () => {});
  pipeline(input, sink, (error) => {
    if (error && !stopped) failed(error);
  });
  return () => {
    stopped = true;
    input.destroy();
    sink.destroy();
  };
};
