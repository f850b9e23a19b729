import type { Socket } from 'node:net';
import { pipeline, type Readable, Writable } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import { giveBack } from './buffer-pool.ts';
import { takeTurn } from './turns.ts';

/** Bytes that may wait in the socket of a host. Enough to keep a fast one busy. */
const socketLimit = 64 * 1024;

/**
 * Sends `input` to a command, and then its end. `failed` hears of an input that could not be read; a command that does not read all
 * of it is no failure. The returned function stops, and destroys the input.
 *
 * A channel takes 2 MB into its own queue and another 2 MB (the window of OpenSSH) into the socket's, whatever the socket says: with
 * many slow hosts that adds up. So the next piece is read only when the one before has left for the kernel, but for a rest.
 */
export const feedInput = (
  input: Readable,
  channel: ClientChannel,
  socket: Socket,
  failed: (cause: Error) => void,
): (() => void) => {
  const sink = new Writable({
    // One piece at a time: the input has read the next one ahead already.
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, done) =>
      takeTurn(() => {
        if (sink.destroyed) return;
        // One system call for all packets of a piece, and not three for each.
        socket.cork();
        channel.write(piece, () => {
          // Copied into packets by now.
          giveBack(piece);
          if (socket.writableLength <= socketLimit) done();
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
  // What a destroyed input still has to say concerns nobody.
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
