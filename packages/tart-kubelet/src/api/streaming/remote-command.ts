import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { untilAborted } from '@tartan/kube';
import type { TerminalSize } from '@tartan/tart';
import * as z from 'zod/mini';
import { parseJson } from '../../parse-json.ts';
import { toHttpError } from '../http-response.ts';
import type { RemoteResult, RemoteSession } from '../pod-runtime.ts';

/** Clients that do not know their size send zeros. */
const dimension = z.int().check(z.minimum(1), z.maximum(65_535));
const sizeSchema = z.pipe(
  z.object({ Width: dimension, Height: dimension }),
  z.transform(({ Width, Height }) => ({ columns: Width, rows: Height })),
);

export const parseTerminalSize = (text: string): TerminalSize | undefined => parseJson(sizeSchema, text);

/** The client of an exec or attach, in either protocol. */
export interface RemoteClient {
  /** Input of the client; ends when the client ends it. Not read unless stdin was requested. */
  readonly stdin: Readable;
  /** Calls the handler at once with the last size received before. */
  onResize(handler: (size: TerminalSize) => void): void;
  /** Resolves when the client can take more. Rejects when the client has disconnected. */
  write(to: 'stdout' | 'stderr', bytes: Buffer): Promise<void>;
  /** Sends the final status and closes. Call it once, at the end. */
  finish(status: string): Promise<void>;
  /** Fires when the connection ends, for any reason. */
  readonly disconnected: AbortSignal;
}

/** Keeps the last size until a handler is set. */
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

/** The final status of an exec or attach; kubectl takes the exit code from it. */
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

/** `undefined`: the client disconnected first. A session that opens later is closed. */
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
 * Flow: opens the session, connects its streams with the client, waits for its end and sends the status.
 * Guarantees: always closes the session, immediately when the client disconnects; sends the status once, after all output; output has
 * backpressure from the client, input from the command. Never rejects.
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
    // A command may exit before it has read all input.
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
