import { type Duplex, Readable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import type { StreamRequest } from '../pod-runtime.ts';
import { serveSpdy, type SpdyStream } from '../spdy/connection.ts';
import { createResizeBuffer, parseTerminalSize, type RemoteClient } from './remote-command.ts';

/** The only version of the remote command protocol that all clients of the last ten years support. */
export const spdyCommandProtocol = 'v4.channel.k8s.io';

const streamTypes = ['error', 'stdin', 'stdout', 'stderr', 'resize'] as const;
type StreamType = (typeof streamTypes)[number];

const openingMs = 30_000;
/** One size per line; a longer line is invalid. */
const maxSizeLine = 1024;

const isExpected = (type: StreamType, wanted: StreamRequest): boolean =>
  type === 'error' || wanted[type === 'resize' ? 'tty' : type];

const readSizes = (stream: SpdyStream, onLine: (text: string) => void): void => {
  let held = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = `${held}${chunk.toString()}`.split('\n');
    held = lines.pop() ?? '';
    if (held.length > maxSizeLine) held = '';
    for (const line of lines) onLine(line);
  });
};

const writeTo = (stream: Duplex | undefined, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    if (!stream || stream.destroyed) return reject(new Error('the stream is gone'));
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

/** exec and attach over SPDY. undefined if the client does not open the announced streams. */
export const spdyClient = async (
  transport: Duplex,
  wanted: StreamRequest,
  clock: Clock,
): Promise<RemoteClient | undefined> => {
  const streams = new Map<StreamType, SpdyStream>();
  const missing = new Set(streamTypes.filter((type) => isExpected(type, wanted)));
  const complete = Promise.withResolvers<boolean>();
  const resizes = createResizeBuffer();
  const disconnected = new AbortController();
  const connection = serveSpdy(transport, {
    clock,
    maxStreams: streamTypes.length,
    onStream: (stream) => {
      const type = streamTypes.find((one) => one === stream.headers.get('streamtype'));
      if (type === undefined || streams.has(type)) return void stream.destroy();
      streams.set(type, stream);
      if (type === 'resize') readSizes(stream, (text) => resizes.push(parseTerminalSize(text)));
      // On the other streams, clients send only the end.
      else if (type !== 'stdin') stream.resume();
      missing.delete(type);
      if (missing.size === 0) complete.resolve(true);
    },
  });
  void connection.done.then(() => {
    complete.resolve(false);
    disconnected.abort();
  });
  const cancelTimer = clock.after(openingMs, () => complete.resolve(false));
  const isComplete = await complete.promise;
  cancelTimer();
  if (!isComplete) {
    transport.destroy();
    return undefined;
  }
  return {
    stdin: streams.get('stdin') ?? Readable.from([]),
    onResize: resizes.onResize,
    disconnected: disconnected.signal,
    write: (to, bytes) => writeTo(streams.get(to), bytes),
    finish: async (status) => {
      streams.get('stdout')?.end();
      streams.get('stderr')?.end();
      await writeTo(streams.get('error'), Buffer.from(status));
      streams.get('error')?.end();
      // Discards further input, so that the client's close behind it is read.
      streams.get('stdin')?.destroy();
      connection.close();
      await connection.done;
    },
  };
};
