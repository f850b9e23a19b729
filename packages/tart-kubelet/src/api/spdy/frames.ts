/** The subset of SPDY/3.1 that Kubernetes uses: no SETTINGS, no flow control, headers only in SYN_STREAM. */
export type Frame =
  | { readonly kind: 'syn'; readonly streamId: number; readonly fin: boolean; readonly headerBlock: Buffer }
  /** One frame may yield several of these: data is passed on as it arrives. */
  | { readonly kind: 'data'; readonly streamId: number; readonly fin: boolean; readonly bytes: Buffer }
  | { readonly kind: 'reset'; readonly streamId: number }
  | { readonly kind: 'ping'; readonly id: number };

/** The peer violates the protocol or exceeds a limit. The connection cannot be used any more. */
export class SpdyError extends Error {}

const types = { syn: 1, reply: 2, reset: 3, ping: 6 } as const;
const version = 3;
const finFlag = 1;
const headLength = 8;
/** Stream headers are a few hundred bytes. Data frames have no limit, since they are not buffered. */
const maxControlBytes = 64 * 1024;
const streamMask = 0x7fffffff;

const minBodyBytes: ReadonlyMap<number, number> = new Map([
  [types.syn, 10],
  [types.reset, 4],
  [types.ping, 4],
]);

const parseControlFrame = (type: number, flags: number, body: Buffer): Frame | undefined => {
  const least = minBodyBytes.get(type);
  // All other types (SETTINGS, WINDOW_UPDATE, GOAWAY, …) are ignored.
  if (least === undefined) return undefined;
  if (body.length < least) throw new SpdyError('a frame that is too short for its kind');
  const id = body.readUInt32BE(0);
  if (type === types.ping) return { kind: 'ping', id };
  const streamId = id & streamMask;
  return type === types.reset
    ? { kind: 'reset', streamId }
    : { kind: 'syn', streamId, fin: (flags & finFlag) !== 0, headerBlock: body.subarray(10) };
};

/** Call it with the chunks of one connection. */
export const createFrameParser = (): ((chunk: Buffer) => Frame[]) => {
  let held: Buffer = Buffer.alloc(0);
  /** The data frame in progress. */
  let data: { streamId: number; fin: boolean; left: number } | undefined;

  /** The next frame and its length; undefined when more bytes are needed. */
  const next = (bytes: Buffer): { frame: Frame | undefined; used: number } | undefined => {
    if (data) {
      const { streamId, fin } = data;
      const piece = bytes.subarray(0, data.left);
      if (piece.length === 0 && data.left > 0) return undefined;
      data.left -= piece.length;
      const isLast = data.left === 0;
      if (isLast) data = undefined;
      return { frame: { kind: 'data', streamId, fin: fin && isLast, bytes: piece }, used: piece.length };
    }
    if (bytes.length < headLength) return undefined;
    const first = bytes.readUInt32BE(0);
    const flags = bytes.readUInt8(4);
    const length = bytes.readUIntBE(5, 3);
    if (first <= streamMask) {
      data = { streamId: first, fin: (flags & finFlag) !== 0, left: length };
      return { frame: undefined, used: headLength };
    }
    if (((first >>> 16) & 0x7fff) !== version) throw new SpdyError('another version than SPDY/3');
    if (length > maxControlBytes) throw new SpdyError('a control frame that is too long');
    if (bytes.length < headLength + length) return undefined;
    const body = bytes.subarray(headLength, headLength + length);
    return { frame: parseControlFrame(first & 0xffff, flags, body), used: headLength + length };
  };

  return (chunk) => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    for (let found = next(bytes); found; found = next(bytes.subarray(at))) {
      at += found.used;
      if (found.frame) frames.push(found.frame);
    }
    held = bytes.subarray(at);
    return frames;
  };
};

const control = (type: number, flags: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(headLength);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
};

const uint32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
};

export const formatSyn = (streamId: number, headerBlock: Buffer, fin = false): Buffer =>
  control(types.syn, fin ? finFlag : 0, Buffer.concat([uint32(streamId, 0), Buffer.alloc(2), headerBlock]));
export const formatReply = (streamId: number, headerBlock: Buffer): Buffer =>
  control(types.reply, 0, Buffer.concat([uint32(streamId), headerBlock]));
/** Status 5 is CANCEL. */
export const formatReset = (streamId: number): Buffer => control(types.reset, 0, uint32(streamId, 5));
export const formatPing = (id: number): Buffer => control(types.ping, 0, uint32(id));

/** Maximum size of a data frame, so that streams alternate. */
export const maxDataBytes = 32 * 1024;

export const formatData = (streamId: number, bytes: Uint8Array, fin = false): Buffer => {
  const head = Buffer.alloc(headLength);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt8(fin ? finFlag : 0, 4);
  head.writeUIntBE(bytes.byteLength, 5, 3);
  return Buffer.concat([head, bytes]);
};
