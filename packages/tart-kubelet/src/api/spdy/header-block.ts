import { SpdyError } from './frames.ts';

/**
 * The dictionary of SPDY/3 header compression, fixed by the protocol: HTTP header names, each prefixed by its length in four bytes,
 * then values.
 */
const words = [
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization',
  'cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range',
  'content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified',
  'location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding',
  'upgrade user-agent vary via warning www-authenticate method get status',
]
  .join(' ')
  .split(' ')
  .concat('200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin');

const values = [
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505',
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found',
  '500 Internal Server Error501 Not Implemented503 Service Unavailable',
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT',
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivate',
  'max-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.',
].join('');

const withLength = (word: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(word.length);
  return Buffer.concat([length, Buffer.from(word)]);
};

export const dictionary: Buffer = Buffer.concat([...words.map(withLength), Buffer.from(values)]);

/** Loaded on the first SPDY connection: SPDY is legacy, and zlib takes memory. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** Names in lower case; of repeated headers the first counts. */
export type Headers = ReadonlyMap<string, string>;

const maxBlockBytes = 64 * 1024;
const maxHeaders = 64;

/** Parses a header block: a count, then length-prefixed names and values. */
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

/** The header blocks of a connection are one compressed stream: all of them must be read, in order. */
export const createHeaderReader = () => {
  const inflate = zlib().createInflate({ dictionary });
  let parts: Buffer[] = [];
  let size = 0;
  let fail: ((error: Error) => void) | undefined;
  inflate.on('data', (part: Buffer) => {
    size += part.length;
    if (size > maxBlockBytes) inflate.destroy(new SpdyError('a header block that is too long'));
    else parts.push(part);
  });
  inflate.on('error', (error) => fail?.(error));
  return {
    read: async (block: Buffer) => {
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

/** zlib header with the checksum of the fixed dictionary. */
const zlibHeader = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
/** An empty header list as a stored block, then the empty block of a sync flush, which marks its end. */
const noHeaders = Buffer.from([0x00, 0x04, 0x00, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x00, 0x00, 0xff, 0xff]);

/** The header blocks that we send: all empty. */
export const createEmptyHeaders = (): (() => Buffer) => {
  let isFirst = true;
  return () => {
    const block = isFirst ? Buffer.concat([zlibHeader, noHeaders]) : noHeaders;
    isFirst = false;
    return block;
  };
};
