import { dictionary } from './dictionary.ts';
import { SpdyError } from './frames.ts';

/** Not before somebody speaks SPDY: it is the old way, and takes memory. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** In lower case; of a header that comes several times the first counts. */
export type Headers = ReadonlyMap<string, string>;

const longestBlock = 64 * 1024;
const maxHeaders = 64;

/** The content of a header block: a count, then names and values, each behind its length. */
export const parseHeaders = (block: Buffer): Headers => {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyError('a header block that ends early');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (length > block.length - at) throw new SpdyError('a header block that ends early');
    at += length;
    return block.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  const count = number();
  if (count > maxHeaders) throw new SpdyError('too many headers');
  for (let index = 0; index < count; index += 1) {
    const name = text().toLowerCase();
    const [value = ''] = text().split('\0');
    if (!headers.has(name)) headers.set(name, value);
  }
  return headers;
};

/** Header blocks of one connection are one compressed stream: they must be read in order, and every one of them. */
export interface HeaderReader {
  read(block: Buffer): Promise<Headers>;
  close(): void;
}

export const createHeaderReader = (): HeaderReader => {
  const inflate = zlib().createInflate({ dictionary });
  let parts: Buffer[] = [];
  let size = 0;
  let fail: ((error: Error) => void) | undefined;
  inflate.on('data', (part: Buffer) => {
    size += part.length;
    if (size > longestBlock) inflate.destroy(new SpdyError('a header block that is too long'));
    else parts.push(part);
  });
  inflate.on('error', (error) => fail?.(error));
  return {
    read: async (block) => {
      parts = [];
      size = 0;
      await new Promise<void>((resolve, reject) => {
        fail = (error) => reject(error instanceof SpdyError ? error : new SpdyError('a header block that is damaged'));
        if (inflate.destroyed) return fail(new SpdyError('a header block that is damaged'));
        inflate.write(block);
        inflate.flush(zlib().constants.Z_SYNC_FLUSH, resolve);
      });
      return parseHeaders(Buffer.concat(parts));
    },
    close: () => void inflate.destroy(),
  };
};

/** Compressed with the fixed dictionary, which its checksum names. */
const beginning = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
/** No headers, stored as they are, and the empty block by which the reader knows that it has all of it (a "sync flush"). */
const noHeaders = Buffer.from([0x00, 0x04, 0x00, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x00, 0x00, 0xff, 0xff]);

/** The header blocks that we send: all of them empty. */
export const createEmptyHeaders = (): (() => Buffer) => {
  let isFirst = true;
  return () => {
    const block = isFirst ? Buffer.concat([beginning, noHeaders]) : noHeaders;
    isFirst = false;
    return block;
  };
};
