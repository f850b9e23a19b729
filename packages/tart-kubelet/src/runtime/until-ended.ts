import { Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';

/** For what is under way between the command and us when the command ends. */
const graceMs = 500;

const quiet = Symbol('quiet');

async function* chunksOf(source: Readable, ended: Promise<unknown>, clock: Clock): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source.iterator({ destroyOnReturn: true });
  try {
    for (;;) {
      let takeBack = (): void => {};
      let over = false;
      const silence = new Promise<typeof quiet>((resolve) => {
        void ended.then(() => {
          if (!over) takeBack = clock.after(graceMs, () => resolve(quiet));
        });
      });
      const next = await Promise.race([chunks.next(), silence]);
      over = true;
      takeBack();
      if (next === quiet || next.done === true) return;
      yield next.value;
    }
  } finally {
    source.destroy();
  }
}

/**
 * The output of a command, which ends when the command has: something that it left behind may hold the pipe for as long as it likes. The
 * grace counts only while a reader waits, so that a slow one still gets everything.
 */
export const untilEnded = (source: Readable, ended: Promise<unknown>, clock: Clock): Readable =>
  Readable.from(chunksOf(source, ended, clock), { objectMode: false });
