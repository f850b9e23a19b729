import { Transform, type TransformCallback } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { Faults } from '../faults.ts';

/** What a channel receives on its way to the command: as slow as the faults say, and cut where they say. */
export const channelInput = (faults: Faults, clock: Clock, cut: () => void): Transform => {
  let received = 0;
  let takeBack = (): void => {};
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const { disconnectAtByte, bytesPerSecond } = faults;
      const room = disconnectAtByte === undefined ? Number.POSITIVE_INFINITY : Math.max(0, disconnectAtByte - received);
      received += chunk.length;
      if (chunk.length >= room) {
        this.push(chunk.subarray(0, room));
        // No `done`: nothing more gets through, and the end of this input is never seen as such.
        setImmediate(cut);
      } else if (bytesPerSecond === undefined) {
        done(null, chunk);
      } else {
        takeBack = clock.after((chunk.length / bytesPerSecond) * 1000, () => done(null, chunk));
      }
    },
    destroy(error, done) {
      takeBack();
      done(error);
    },
  });
};
