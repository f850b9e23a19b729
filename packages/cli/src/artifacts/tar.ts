import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

type ByteReader = ReturnType<typeof byteReader>;

/** Reads exact numbers of bytes from chunks of any length. */
const byteReader = (chunks: AsyncIterable<Buffer>, maxBytes: number) => {
  const iterator = chunks[Symbol.asyncIterator]();
  let left: Buffer = Buffer.alloc(0);
  let read = 0;
  const fill = async (): Promise<boolean> => {
    while (left.length === 0) {
      const { done, value } = await iterator.next();
      if (done === true) return false;
      read += value.length;
      // Protects against a decompression bomb.
      if (read > maxBytes) throw new Error(`the archive unpacks to more than ${maxBytes} bytes.`);
      left = value;
    }
    return true;
  };
  async function* next(count: number): AsyncGenerator<Buffer> {
    for (let open = count; open > 0; ) {
      if (!(await fill())) throw new Error('the archive is truncated.');
      const piece = left.subarray(0, open);
      left = left.subarray(piece.length);
      open -= piece.length;
      yield piece;
    }
  }
  return {
    /** The next so many bytes in chunks. The caller must read all of them. */
    next,
    /** So many bytes; undefined at the end. Rejects when the input ends in between. */
    exactly: async (count: number): Promise<Buffer | undefined> => {
      if (!(await fill())) return undefined;
      const pieces: Buffer[] = [];
      for await (const piece of next(count)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
  };
};

export interface TarEntry {
  /** Without leading `./` and trailing `/`. Untrusted. */
  readonly name: string;
  readonly type: 'file' | 'folder' | 'symlink' | 'hardlink' | 'other';
  readonly size: number;
  readonly target: string;
  /** Unread content is skipped. */
  content(): AsyncGenerator<Buffer>;
}

const blockBytes = 512;
const maxHeaderBytes = 1024 * 1024;

const types: Readonly<Record<string, TarEntry['type']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'folder',
};

/** The entries of a tar archive: ustar, with long names of pax and GNU. */
export async function* readTar(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<TarEntry> {
  const reader = byteReader(chunks, maxBytes);
  let longer: LongFields = {};
  for (;;) {
    const header = await reader.exactly(blockBytes);
    // Two blocks of zeros end the archive; padding follows.
    if (header === undefined || header.every((byte) => byte === 0)) return;
    if (!hasValidChecksum(header)) throw new Error('the file is not a tar archive.');
    const kind = String.fromCharCode(header[156] ?? 0);
    const size = longer.size ?? octalField(header, 124, 12);
    if (kind === 'x' || kind === 'g' || kind === 'L' || kind === 'K') {
      const extra = await readExtra(reader, octalField(header, 124, 12));
      // A global header (`g`) is not needed.
      if (kind !== 'g') longer = { ...longer, ...extraOf(kind, extra) };
      continue;
    }
    let read = false;
    const content = async function* (): AsyncGenerator<Buffer> {
      read = true;
      yield* reader.next(size);
    };
    yield {
      name: trimmedPath(longer.path ?? nameIn(header)),
      type: types[kind] ?? 'other',
      size,
      target: longer.linkpath ?? textField(header, 157, 100),
      content,
    };
    longer = {};
    if (!read) await skip(reader, size);
    await skip(reader, (blockBytes - (size % blockBytes)) % blockBytes);
  }
}

interface LongFields {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

const readExtra = async (reader: ByteReader, size: number): Promise<Buffer> => {
  if (size > maxHeaderBytes) throw new Error('the archive has a header that is too long.');
  const extra = await reader.exactly(size + ((blockBytes - (size % blockBytes)) % blockBytes));
  return (extra ?? Buffer.alloc(0)).subarray(0, size);
};

const extraOf = (kind: string, extra: Buffer): LongFields => {
  if (kind === 'L') return { path: textField(extra, 0, extra.length) };
  if (kind === 'K') return { linkpath: textField(extra, 0, extra.length) };
  const records = paxRecords(extra);
  const [path, linkpath, size] = [records.get('path'), records.get('linkpath'), records.get('size')];
  return {
    ...(path !== undefined && { path }),
    ...(linkpath !== undefined && { linkpath }),
    ...(size !== undefined && { size: wholeNumber(size, 10) }),
  };
};

/** Each record is `LENGTH KEY=VALUE` and a line break. LENGTH counts the whole record; a value may contain line breaks. */
const paxRecords = (extra: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  for (let at = 0; at < extra.length; ) {
    const space = extra.indexOf(' ', at);
    const length = wholeNumber(extra.toString('latin1', at, space), 10);
    if (space < 0 || length <= space - at) throw new Error('the archive has an invalid header.');
    const [key = '', ...value] = extra.toString('utf8', space + 1, at + length - 1).split('=');
    records.set(key, value.join('='));
    at += length;
  }
  return records;
};

const skip = async (reader: ByteReader, count: number): Promise<void> => {
  for await (const _ of reader.next(count));
};

const textField = (header: Buffer, at: number, length: number): string =>
  header.toString('utf8', at, at + length).replace(/\0.*$/s, '');

const nameIn = (header: Buffer): string => {
  const [name, prefix] = [textField(header, 0, 100), textField(header, 345, 155)];
  return prefix === '' || !textField(header, 257, 6).startsWith('ustar') ? name : `${prefix}/${name}`;
};

const trimmedPath = (name: string): string => name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');

const wholeNumber = (digits: string, base: 8 | 10): number => {
  const value = Number.parseInt(digits.trim() || '0', base);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('the archive has an invalid size.');
  return value;
};

const octalField = (header: Buffer, at: number, length: number): number =>
  wholeNumber(textField(header, at, length), 8);

/** The sum of all bytes, with spaces in place of the checksum. */
const hasValidChecksum = (header: Buffer): boolean => {
  let sum = 8 * 32;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  return Number.parseInt(textField(header, 148, 8), 8) === sum;
};

const tarHeader = (name: string, size: number): Buffer => {
  const bytes = Buffer.alloc(blockBytes);
  const put = (text: string, at: number): number => bytes.write(text, at, 'latin1');
  const octal = (value: number, length: number): string => value.toString(8).padStart(length - 1, '0');
  put(name, 0);
  put(octal(0o755, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(0, 12), 136);
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\u000000', 257);
  put(
    `${octal(
      bytes.reduce((sum, byte) => sum + byte, 0),
      7,
    )}\0 `,
    148,
  );
  return bytes;
};

async function* tarStream(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    const { size } = await stat(file);
    yield tarHeader(basename(file), size);
    yield* createReadStream(file);
    yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  }
  yield Buffer.alloc(2 * blockBytes);
}

/** A gzipped tar of executables at its top level, without owners and times: stamps on Macs depend on its checksum, so it is reproducible. */
export const writeTar = (files: readonly string[], to: string): Promise<void> =>
  pipeline(tarStream(files), createGzip({ level: 9 }), createWriteStream(to, { flags: 'wx' }));
