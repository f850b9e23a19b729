import type { Writable } from 'node:stream';
import { drawOn } from '../show/safe-output.ts';

/** Tells a person that something goes on: one line that is written over on a terminal, a line now and then elsewhere. */
export interface Progress {
  tell(done: number): void;
  end(): void;
}

/** Lines in a log: a tenth each is enough. */
const parts = 10;

export const createProgress = (output: Writable & { isTTY?: boolean }, total: number, what: string): Progress => {
  const step = Math.max(1, Math.ceil(total / parts));
  const isTerminal = output.isTTY === true;
  let isOpen = false;
  return {
    tell: (done) => {
      if (isTerminal) {
        drawOn(output, `\r${done} of ${total} ${what}`);
        isOpen = true;
      } else if (total > parts && done % step === 0) output.write(`${done} of ${total} ${what}\n`);
    },
    end: () => {
      if (isOpen) drawOn(output, '\r\u001B[K');
      isOpen = false;
    },
  };
};
