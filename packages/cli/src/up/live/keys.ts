import type { Terminal } from '../../host/ask-secret.ts';

export interface KeyHandlers {
  enter(): void;
  stop(): void;
}

/** With Ctrl-C and Ctrl-D, which are ordinary characters in raw mode. */
const stopKeys: ReadonlySet<string> = new Set(['q', 'Q', '\u0003', '\u0004']);

/**
 * Reads keys without echoing them: an echoed Enter would shift the live view. After a stop key the terminal is normal again, so that a
 * second Ctrl-C is a signal. The returned function also ends it.
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
