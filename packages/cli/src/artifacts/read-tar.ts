import { type ByteReader, byteReader } from './byte-reader.ts';

export interface TarEntry {
  /** As the archive says it, without `./` before and `/` behind: not to be trusted as a path. */
  readonly name: string;
  readonly type: 'file' | 'folder' | 'symlink' | 'hardlink' | 'other';
  readonly size: number;
  readonly target: string;
  /** Its bytes. What is not read is passed over. */
  content(): AsyncGenerator<Buffer>;
}

const block = 512;
/** Names and times are short; whoever sends more means no good. */
const mostOfHeader = 1024 * 1024;

const types: Readonly<Record<string, TarEntry['type']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'folder',
};

/** The entries of a tar one after the other: ustar, with the long names of pax and of GNU. */
export async function* readTar(chunks: AsyncIterable<Buffer>, limits: { most: number }): AsyncGenerator<TarEntry> {
  const reader = byteReader(chunks, limits);
  let longer: Longer = {};
  for (;;) {
    const header = await reader.exactly(block);
    // Two blocks of zeros end it; what follows is padding.
    if (header === undefined || header.every((byte) => byte === 0)) return;
    if (!hasRightSum(header)) throw new Error('it is no tar.');
    const kind = String.fromCharCode(header[156] ?? 0);
    const size = longer.size ?? number(header, 124, 12);
    if (kind === 'x' || kind === 'g' || kind === 'L' || kind === 'K') {
      const extra = await readExtra(reader, number(header, 124, 12));
      // A global header (`g`) says nothing that we need.
      if (kind !== 'g') longer = { ...longer, ...extraOf(kind, extra) };
      continue;
    }
    let read = false;
    const content = async function* (): AsyncGenerator<Buffer> {
      read = true;
      yield* reader.next(size);
    };
    yield {
      name: plain(longer.path ?? nameIn(header)),
      type: types[kind] ?? 'other',
      size,
      target: longer.linkpath ?? text(header, 157, 100),
      content,
    };
    longer = {};
    if (!read) await passOver(reader, size);
    await passOver(reader, (block - (size % block)) % block);
  }
}

interface Longer {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

const readExtra = async (reader: ByteReader, size: number): Promise<Buffer> => {
  if (size > mostOfHeader) throw new Error('it has a header that is too long.');
  const extra = await reader.exactly(size + ((block - (size % block)) % block));
  return (extra ?? Buffer.alloc(0)).subarray(0, size);
};

const extraOf = (kind: string, extra: Buffer): Longer => {
  if (kind === 'L') return { path: text(extra, 0, extra.length) };
  if (kind === 'K') return { linkpath: text(extra, 0, extra.length) };
  const records = paxRecords(extra);
  const [path, linkpath, size] = [records.get('path'), records.get('linkpath'), records.get('size')];
  return {
    ...(path !== undefined && { path }),
    ...(linkpath !== undefined && { linkpath }),
    ...(size !== undefined && { size: wholeNumber(size, 10) }),
  };
};

/** Each is `LENGTH KEY=VALUE` and a new line, and its length counts all of that: a value may hold new lines itself. */
const paxRecords = (extra: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  for (let at = 0; at < extra.length; ) {
    const space = extra.indexOf(' ', at);
    const length = wholeNumber(extra.toString('latin1', at, space), 10);
    if (space < 0 || length <= space - at) throw new Error('it has a header that makes no sense.');
    const [key = '', ...value] = extra.toString('utf8', space + 1, at + length - 1).split('=');
    records.set(key, value.join('='));
    at += length;
  }
  return records;
};

const passOver = async (reader: ByteReader, count: number): Promise<void> => {
  for await (const _ of reader.next(count));
};

const text = (header: Buffer, at: number, length: number): string =>
  header.toString('utf8', at, at + length).replace(/\0.*$/s, '');

const nameIn = (header: Buffer): string => {
  const [name, prefix] = [text(header, 0, 100), text(header, 345, 155)];
  return prefix === '' || !text(header, 257, 6).startsWith('ustar') ? name : `${prefix}/${name}`;
};

const plain = (name: string): string => name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');

const wholeNumber = (digits: string, base: 8 | 10): number => {
  const value = Number.parseInt(digits.trim() || '0', base);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('it has a size that is none.');
  return value;
};

const number = (header: Buffer, at: number, length: number): number => wholeNumber(text(header, at, length), 8);

/** The sum is that of all bytes, with spaces in its own place. */
const hasRightSum = (header: Buffer): boolean => {
  let sum = 8 * 32;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  return Number.parseInt(text(header, 148, 8), 8) === sum;
};
