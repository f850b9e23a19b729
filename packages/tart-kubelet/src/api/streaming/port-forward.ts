import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@tartan/kube/clock';
import { toHttpError } from '../http-response.ts';
import { serveSpdy, type SpdyStream } from '../spdy/connection.ts';

export interface ForwardOptions {
  clock: Clock;
  /** Connects to that port of the guest. */
  dial(port: number, signal: AbortSignal): Promise<Duplex>;
  onError(error: unknown): void;
}

/** Per client; each connection has two streams. A browser opens some dozens. */
const maxConnections = 128;
/** How long one stream of a pair waits for the other. */
const pairingMs = 30_000;

interface StreamPair {
  error?: SpdyStream;
  data?: SpdyStream;
  cancelTimer(): void;
}

const portOf = (stream: SpdyStream): number | undefined => {
  const text = stream.headers.get('port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
};

/** Pipes both directions; each ends independently, a failure ends both. */
const pipeBothWays = async (one: Duplex, other: Duplex): Promise<void> => {
  try {
    await Promise.all([pipeline(one, other), pipeline(other, one)]);
  } finally {
    one.destroy();
    other.destroy();
  }
};

/** Port-forward over SPDY: each connection is a pair of streams with the same `requestid`. Resolves when it is over. */
export const servePortForward = async (transport: Duplex, { clock, dial, onError }: ForwardOptions): Promise<void> => {
  const disconnected = new AbortController();
  const pairs = new Map<string, StreamPair>();

  const forward = async (errors: SpdyStream, data: SpdyStream): Promise<void> => {
    errors.resume();
    const refuse = (text: string): void => {
      errors.end(text);
      data.destroy();
    };
    const port = portOf(data);
    if (port === undefined) return refuse('The header port holds no port');
    let target: Duplex;
    try {
      target = await dial(port, disconnected.signal);
    } catch (failure) {
      onError(failure);
      return refuse(`Port ${port} of the virtual machine: ${toHttpError(failure).message}`);
    }
    if (data.destroyed || disconnected.signal.aborted) return void target.destroy();
    target.on('error', () => {});
    await pipeBothWays(data, target).catch(() => {});
    errors.end();
  };

  const drop = (id: string): void => {
    const { error, data, cancelTimer } = pairs.get(id) ?? {};
    cancelTimer?.();
    error?.destroy();
    data?.destroy();
    pairs.delete(id);
  };

  const acceptStream = (stream: SpdyStream): void => {
    const id = stream.headers.get('requestid') ?? '';
    const type = stream.headers.get('streamtype') ?? '';
    if ((type !== 'error' && type !== 'data') || id === '') return void stream.destroy();
    const pair = pairs.get(id) ?? { cancelTimer: clock.after(pairingMs, () => drop(id)) };
    if (pair[type]) return void stream.destroy();
    pair[type] = stream;
    pairs.set(id, pair);
    const { error, data } = pair;
    if (!error || !data) return;
    pair.cancelTimer();
    pairs.delete(id);
    void forward(error, data);
  };

  await serveSpdy(transport, { clock, maxStreams: 2 * maxConnections, onStream: acceptStream }).done;
  for (const id of pairs.keys()) drop(id);
  disconnected.abort();
};
