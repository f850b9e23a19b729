import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { toHttpError } from '../http-response.ts';
import type { RemoteResult, RemoteSession, TerminalSize } from '../pod-runtime.ts';

const dimension = z.number().int().min(0).max(65_535);
const sizeSchema = z.object({ Width: dimension, Height: dimension });

/** undefined for what is no size, and for zeros, which a client sends that does not know its own. */
export const parseTerminalSize = (text: string): TerminalSize | undefined => {
  try {
    const { Width: width, Height: height } = sizeSchema.parse(JSON.parse(text));
    return width === 0 || height === 0 ? undefined : { width, height };
  } catch {
    return undefined;
  }
};

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
  readonly disconnected: AbortSignal;
}

/** Keeps the last size until somebody wants to know. */
export const createResizeBuffer = (): { push(size: TerminalSize | undefined): void } & Pick<
  RemoteClient,
  'onResize'
> => {
  let last: TerminalSize | undefined;
  let handler: ((size: TerminalSize) => void) | undefined;
  return {
    push: (size) => {
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

/** The last word of an exec or attach, as kubectl reads it: its exit code comes from here. */
export const formatStatus = (outcome: RemoteResult): string => {
  if (outcome.kind === 'failed') {
    const { message } = outcome;
    return JSON.stringify({ metadata: {}, status: 'Failure', reason: 'InternalError', code: 500, message });
  }
  if (outcome.code === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${outcome.code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(outcome.code) }] },
  });
};

/** Whichever comes first; what is too late is ended. */
const openUnlessDisconnected = async (
  open: () => Promise<RemoteSession>,
  disconnected: AbortSignal,
): Promise<RemoteSession | undefined> => {
  const opening = open();
  const disconnection = Promise.withResolvers<undefined>();
  const leave = (): void => disconnection.resolve(undefined);
  disconnected.addEventListener('abort', leave, { once: true });
  if (disconnected.aborted) leave();
  try {
    const session = await Promise.race([opening, disconnection.promise]);
    if (!session) {
      opening.then(
        (late) => late.close(),
        () => {},
      );
    }
    return session;
  } finally {
    disconnected.removeEventListener('abort', leave);
  }
};

/**
 * Flow: opens the session, joins its streams with the client's, waits for its end and says how it was.
 * Guarantees: the session is ended in any case, at once when the client is gone; the status comes behind all output, once; output is read
 * at the client's pace, and input sent at the command's. Never rejects.
 */
export const serveSession = async (
  client: RemoteClient,
  open: () => Promise<RemoteSession>,
  onError: (error: unknown) => void,
): Promise<void> => {
  let session: RemoteSession | undefined;
  try {
    session = await openUnlessDisconnected(open, client.disconnected);
  } catch (error) {
    onError(error);
    await client.finish(formatStatus({ kind: 'failed', message: toHttpError(error).message })).catch(() => {});
    return;
  }
  if (!session) return;
  const running = session;
  const end = (): void => running.close();
  client.disconnected.addEventListener('abort', end, { once: true });
  try {
    client.onResize((size) => running.resize(size));
    if (running.stdin) {
      // A command may end without having read everything: that is no failure.
      pipeline(client.stdin, running.stdin).catch(() => {});
    } else {
      client.stdin.resume();
    }
    const print = async (source: Readable | undefined, to: 'stdout' | 'stderr'): Promise<void> => {
      if (source) for await (const chunk of source) await client.write(to, chunk);
    };
    const [outcome] = await Promise.all<RemoteResult | void>([
      running.result,
      print(running.stdout, 'stdout'),
      print(running.stderr, 'stderr'),
    ]);
    if (outcome) await client.finish(formatStatus(outcome));
  } catch (error) {
    if (client.disconnected.aborted) return;
    onError(error);
    await client.finish(formatStatus({ kind: 'failed', message: toHttpError(error).message })).catch(() => {});
  } finally {
    client.disconnected.removeEventListener('abort', end);
    end();
  }
};
