import { Duplex } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import {
  createFrameParser,
  type Frame,
  formatData,
  formatPing,
  formatReply,
  formatReset,
  maxDataBytes,
  SpdyError,
} from './frames.ts';
import { createEmptyHeaders, createHeaderReader, type Headers } from './header-block.ts';

/** A stream opened by the client; half-open like a socket. `destroy` resets it. */
export interface SpdyStream extends Duplex {
  readonly headers: Headers;
}

export interface SpdyOptions {
  clock: Clock;
  /** Called in the order in which the client opens streams, after the reply to each. */
  onStream(stream: SpdyStream): void;
  maxStreams: number;
}

/** How long the peer may take to close after us. If we closed first, the kernel could discard data that the peer has not read. */
const closingMs = 10_000;
const pingMs = 2_000;
/** Limit for an API server that translates protocols: it stalls together with us, and does not notice its client's end either. */
const maxStalledMs = 4 * 60 * 60 * 1000;

/**
 * While a local reader is slow, we do not read from the connection and cannot notice its end; a failing ping shows it. The
 * returned function stops the pings.
 */
export const pingWhileStalled = (clock: Clock, ping: () => void, giveUp: () => void): (() => void) => {
  const until = clock.monotonic() + maxStalledMs;
  const next = (): void => {
    if (clock.monotonic() >= until) return giveUp();
    ping();
    cancelTimer = clock.after(pingMs, next);
  };
  let cancelTimer = clock.after(pingMs, next);
  return () => cancelTimer();
};

/** The server side of SPDY over a TLS socket or a WebSocket. */
export const serveSpdy = (transport: Duplex, { clock, onStream, maxStreams }: SpdyOptions) => {
  const streams = new Map<number, { stream: Duplex; deliver(bytes: Buffer, fin: boolean): Promise<void> }>();
  const headers = createHeaderReader();
  const emptyHeaders = createEmptyHeaders();
  let lastStreamId = 0;
  let closing = false;
  let cancelClosing: (() => void) | undefined;

  const send = (frame: Buffer, done: (error?: Error | null) => void): void => {
    if (transport.destroyed) done(new Error('the connection is gone'));
    else transport.write(frame, done);
  };
  const sendFrame = (frame: Buffer): void => send(frame, () => {});

  const openStream = (streamId: number, streamHeaders: Headers): void => {
    let resumeReading: (() => void) | undefined;
    let isOver = false;
    const forget = (): void => void (stream.readableEnded && stream.writableFinished && streams.delete(streamId));
    const stream = new (class extends Duplex implements SpdyStream {
      readonly headers = streamHeaders;
    })({
      allowHalfOpen: true,
      read: () => resumeReading?.(),
      write: (chunk: Buffer, _encoding, done) => {
        const pieces = Array.from({ length: Math.ceil(chunk.length / maxDataBytes) }, (_, index) =>
          formatData(streamId, chunk.subarray(index * maxDataBytes, (index + 1) * maxDataBytes)),
        );
        send(Buffer.concat(pieces), done);
      },
      final: (done) => send(formatData(streamId, Buffer.alloc(0), true), done),
      destroy: (error, done) => {
        if (!isOver && streams.delete(streamId)) sendFrame(formatReset(streamId));
        isOver = true;
        resumeReading?.();
        done(error);
      },
    });
    stream.on('error', () => {});
    stream.on('end', forget);
    stream.on('finish', forget);
    const deliver = async (bytes: Buffer, fin: boolean): Promise<void> => {
      if (isOver) return;
      const hasRoom = bytes.length === 0 || stream.push(bytes);
      if (fin) stream.push(null);
      if (hasRoom || fin || stream.destroyed) return;
      const resumed = new Promise<void>((resolve) => {
        resumeReading = resolve;
      });
      await waitWithPings(resumed);
      resumeReading = undefined;
    };
    streams.set(streamId, { stream, deliver });
    onStream(stream);
  };

  /** Waits for a slow local reader, and pings the peer meanwhile. */
  const waitWithPings = async (resumed: Promise<void>): Promise<void> => {
    const stopPings = pingWhileStalled(
      clock,
      () => sendFrame(formatPing(2)),
      () => void transport.destroy(),
    );
    const closed = Promise.withResolvers<void>();
    transport.once('close', closed.resolve);
    await Promise.race([resumed, closed.promise]);
    transport.off('close', closed.resolve);
    stopPings();
  };

  const handle = async (frame: Frame): Promise<void> => {
    switch (frame.kind) {
      case 'syn': {
        const read = await headers.read(frame.headerBlock);
        if (frame.streamId <= lastStreamId || frame.streamId % 2 === 0)
          throw new SpdyError('a stream id that is not new');
        lastStreamId = frame.streamId;
        if (closing || streams.size >= maxStreams) return sendFrame(formatReset(frame.streamId));
        sendFrame(formatReply(frame.streamId, emptyHeaders()));
        openStream(frame.streamId, read);
        if (frame.fin) await streams.get(frame.streamId)?.deliver(Buffer.alloc(0), true);
        return;
      }
      case 'data':
        return await streams.get(frame.streamId)?.deliver(frame.bytes, frame.fin);
      case 'reset': {
        const known = streams.get(frame.streamId);
        streams.delete(frame.streamId);
        known?.stream.destroy();
        return;
      }
      case 'ping':
        // Even ids are replies to our pings.
        return frame.id % 2 === 1 ? sendFrame(formatPing(frame.id)) : undefined;
    }
  };

  const run = async (): Promise<void> => {
    const parse = createFrameParser();
    try {
      for await (const chunk of transport) for (const frame of parse(chunk)) await handle(frame);
    } catch {
      // Closes the connection on protocol violations and network errors.
    } finally {
      cancelClosing?.();
      headers.close();
      const open = [...streams.values()];
      streams.clear();
      for (const { stream } of open) stream.destroy();
      transport.destroy();
    }
  };

  return {
    /** Reads until the peer ends, violates the protocol, or the connection breaks. Never rejects; the transport is closed afterwards. */
    done: run(),
    /** Accepts no new streams; closes after the peer has closed, or after a timeout. */
    close: () => {
      if (closing) return;
      closing = true;
      cancelClosing = clock.after(closingMs, () => transport.destroy());
    },
  };
};
