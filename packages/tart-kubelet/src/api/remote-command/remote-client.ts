import type { Readable } from 'node:stream';
import type { TerminalSize } from '../pod-runtime.ts';

/** Who has asked for an exec or attach, whatever the protocol. */
export interface RemoteClient {
  /** What is typed; ends when the client says so. Not read unless stdin was asked for. */
  readonly stdin: Readable;
  /** Sizes that came before somebody listens are not lost: the last one is told at once. */
  onResize(handler: (size: TerminalSize) => void): void;
  /** Resolves when there is room for more. Rejects when the client is gone. */
  write(to: 'stdout' | 'stderr', bytes: Buffer): Promise<void>;
  /** Says how it ended, and closes. Once, and last. */
  finish(status: string): Promise<void>;
  /** Fires when the connection is gone, however. */
  readonly gone: AbortSignal;
}

/** Keeps the last size until somebody wants to know. */
export const createResizes = (): { told(size: TerminalSize | undefined): void } & Pick<RemoteClient, 'onResize'> => {
  let last: TerminalSize | undefined;
  let handler: ((size: TerminalSize) => void) | undefined;
  return {
    told: (size) => {
      if (!size) return;
      last = size;
      handler?.(size);
    },
    onResize: (wanted) => {
      handler = wanted;
      if (last) wanted(last);
    },
  };
};
