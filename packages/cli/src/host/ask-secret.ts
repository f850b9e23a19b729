import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface Terminal {
  readonly input: Readable & { isTTY?: boolean; setRawMode?(on: boolean): unknown };
  readonly output: Writable;
}

export class NotAnsweredError extends Error {
  override readonly name = 'NotAnsweredError';
}

/**
 * Asks for a secret. A terminal does not echo it; otherwise the first line of the input is read, so that
 * `pass show mac | tartan prepare-host …` works. Rejects with NotAnsweredError on Ctrl-C, Ctrl-D and an empty input.
 */
export const askSecret = (question: string, { input, output }: Terminal): Promise<string> =>
  input.isTTY === true ? typed(question, input, output) : firstLine(input);

const firstLine = async (input: Readable): Promise<string> => {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  throw new NotAnsweredError('There is no terminal to ask for the password, and the standard input is empty.');
};

const ctrlC = '\u0003';
const ctrlD = '\u0004';
const ctrlU = '\u0015';

/** Without readline, which would echo. */
const typed = (question: string, input: Terminal['input'], output: Writable): Promise<string> =>
  new Promise((resolve, reject) => {
    const keys: string[] = [];
    const finish = (settle: () => void): void => {
      input.off('data', onData);
      input.setRawMode?.(false);
      input.pause();
      output.write('\n');
      settle();
    };
    const onData = (data: Buffer | string): void => {
      for (const key of data.toString()) {
        if (key === '\r' || key === '\n') return finish(() => resolve(keys.join('')));
        if (key === ctrlC || (key === ctrlD && keys.length === 0))
          return finish(() => reject(new NotAnsweredError('Nothing was typed.')));
        if (key === '\u007F' || key === '\b') keys.pop();
        else if (key === ctrlU) keys.length = 0;
        else keys.push(key);
      }
    };
    // First, since the terminal would echo what is typed before the question.
    input.setRawMode?.(true);
    output.write(question);
    input.on('data', onData);
    input.resume();
  });
