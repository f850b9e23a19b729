import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RemoteOutcome, RemoteSession } from '../pod-runtime.ts';
import { problemOf } from '../problem.ts';
import type { RemoteClient } from './remote-client.ts';
import { statusOf } from './status.ts';

/** Whichever comes first; what is too late is ended. */
const opened = async (open: () => Promise<RemoteSession>, gone: AbortSignal): Promise<RemoteSession | undefined> => {
  const opening = open();
  const left = Promise.withResolvers<undefined>();
  const leave = (): void => left.resolve(undefined);
  gone.addEventListener('abort', leave, { once: true });
  if (gone.aborted) leave();
  try {
    const session = await Promise.race([opening, left.promise]);
    if (!session) {
      opening.then(
        (late) => late.end(),
        () => {},
      );
    }
    return session;
  } finally {
    gone.removeEventListener('abort', leave);
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
    session = await opened(open, client.gone);
  } catch (error) {
    onError(error);
    await client.finish(statusOf({ kind: 'failed', message: problemOf(error).message })).catch(() => {});
    return;
  }
  if (!session) return;
  const running = session;
  const end = (): void => running.end();
  client.gone.addEventListener('abort', end, { once: true });
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
    const [outcome] = await Promise.all<RemoteOutcome | void>([
      running.outcome,
      print(running.stdout, 'stdout'),
      print(running.stderr, 'stderr'),
    ]);
    if (outcome) await client.finish(statusOf(outcome));
  } catch (error) {
    if (client.gone.aborted) return;
    onError(error);
    await client.finish(statusOf({ kind: 'failed', message: problemOf(error).message })).catch(() => {});
  } finally {
    client.gone.removeEventListener('abort', end);
    end();
  }
};
