import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { untilAborted } from '@tartan/kube';
import type { TerminalSize } from '@tartan/tart';
import { z } from 'zod';
import { parseJson } from '../../parse-json.ts';
import { toHttpError } from '../http-response.ts';
import type { RemoteResult, RemoteSession } from '../pod-runtime.ts';

/** Zeros are sent by a client that does not know its size. */
const dimension = z.number().int().min(1).max(65_535);
const sizeSchema = z
  .object({ Width: dimension, Height: dimension })
  .transform(({ Width, Height }) => ({ columns: Width, rows: Height }));

export const parseTerminalSize = (text: string): TerminalSize | undefined => parseJson(sizeSchema, text);

/** Who has asked for an exec or attach, whatever the protocol. */
export interface RemoteClient {
  /** What is typed; ends when the client says so. Not read unless stdin was asked for. */
  readonly stdin: Readable;
  /** Calls the handler at once with the last size that came before. */
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

/** `undefined`: the client is gone before it is open. A session that opens later is closed. */
const openUnlessDisconnected = async (
  open: () => Promise<RemoteSession>,
  disconnected: AbortSignal,
): Promise<RemoteSession | void> => {
  const opening = open();
  const session = await Promise.race([opening, untilAborted(disconnected)]);
  if (!session)
    opening.then(
      (late) => late.close(),
      () => {},
    );
  return session;
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
  const end = (): void => session?.close();
  client.disconnected.addEventListener('abort', end, { once: true });
  try {
    const opened = await openUnlessDisconnected(open, client.disconnected);
    if (!opened) return;
    session = opened;
    client.onResize((size) => opened.resize(size));
    // A command may end without having read everything: that is no failure.
    if (opened.stdin) pipeline(client.stdin, opened.stdin).catch(() => {});
    else client.stdin.resume();
    const print = async (source: Readable | undefined, to: 'stdout' | 'stderr'): Promise<void> => {
      if (source) for await (const chunk of source) await client.write(to, chunk);
    };
    const [outcome] = await Promise.all<RemoteResult | void>([
      opened.result,
      print(opened.stdout, 'stdout'),
      print(opened.stderr, 'stderr'),
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
