import type { Duplex } from 'node:stream';
import { constants, createDeflate } from 'node:zlib';
import { formatSyn } from '../spdy/frames.ts';
import { dictionary } from '../spdy/header-block.ts';

/** For tests: the client side of SPDY, as Go implements it. */

const headerBytes = (headers: Readonly<Record<string, string>>): Buffer => {
  const uint32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string): Buffer => Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(value)]);
  const pairs = Object.entries(headers);
  return Buffer.concat([uint32(pairs.length), ...pairs.flatMap(([name, value]) => [text(name), text(value)])]);
};

/** One compression window over all blocks of a connection. */
export const createHeaderWriter = (): ((headers: Readonly<Record<string, string>>) => Promise<Buffer>) => {
  const deflate = createDeflate({ dictionary });
  let parts: Buffer[] = [];
  deflate.on('data', (part: Buffer) => parts.push(part));
  return async (headers) => {
    parts = [];
    await new Promise<void>((resolve) => {
      deflate.write(headerBytes(headers));
      deflate.flush(constants.Z_SYNC_FLUSH, resolve);
    });
    return Buffer.concat(parts);
  };
};

export interface RawFrame {
  /** Control frame type; 0 for data. */
  type: number;
  streamId: number;
  flags: number;
  body: Buffer;
}

/** Opens streams on `socket`, and collects the received frames. */
export const createSpdyPeer = (socket: Duplex) => {
  const writeHeaders = createHeaderWriter();
  const frames: RawFrame[] = [];
  let held = Buffer.alloc(0);
  let wake = (): void => {};
  let nextId = 1;
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 8 && held.length >= 8 + held.readUIntBE(5, 3)) {
      const first = held.readUInt32BE(0);
      const body = Buffer.from(held.subarray(8, 8 + held.readUIntBE(5, 3)));
      const isControl = first > 0x7fffffff;
      frames.push({
        type: isControl ? first & 0xffff : 0,
        streamId: isControl ? body.readUInt32BE(0) : first,
        flags: held.readUInt8(4),
        body,
      });
      held = held.subarray(8 + body.length);
    }
    wake();
  });
  socket.on('close', () => wake());
  return {
    frames,
    open: async (headers: Readonly<Record<string, string>>, fin = false, id = nextId): Promise<number> => {
      nextId += 2;
      socket.write(formatSyn(id, await writeHeaders(headers), fin));
      return id;
    },
    /** The first frame that matches, now or later; undefined when the connection ends first. */
    find: async (fits: (frame: RawFrame) => boolean): Promise<RawFrame | undefined> => {
      for (;;) {
        const found = frames.find(fits);
        if (found || socket.destroyed) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
};
