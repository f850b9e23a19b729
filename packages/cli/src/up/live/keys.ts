import type { Terminal } from '../../host/ask-secret.ts';

/** What a person can ask for with a key. */
export interface KeyHandlers {
  enter(): void;
  stop(): void;
}

/** Ctrl-C and Ctrl-D, which a terminal in raw mode hands over like any letter. */
const stopKeys: ReadonlySet<string> = new Set(['q', 'Q', '\u0003', '\u0004']);

/**
 * Hears keys as they are pressed, and shows none: an Enter that the terminal echoes would push a live view out of its place. A wish to
 * stop ends that at once, so that a second Ctrl-C is a signal again, and ends us the hard way. The function returned ends it too.
 */
export const listenForKeys = (stdin: Terminal['input'], handlers: KeyHandlers): (() => void) => {
  const onData = (data: Buffer | string): void => {
    for (const key of data.toString()) {
      if (stopKeys.has(key)) {
        end();
        return handlers.stop();
      }
      if (key === '\r' || key === '\n') handlers.enter();
    }
  };
  const end = (): void => {
    stdin.off('data', onData);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onData);
  stdin.resume();
  return end;
};
