import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface Member {
  readonly name: string;
  readonly content?: string;
  /** Of tar: `0` is a file, `1` and `2` are links, `5` is a folder. */
  readonly type?: string;
  readonly target?: string;
}

const block = 512;

const padded = (content: Buffer): Buffer =>
  Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)]);

export const tarHeader = (name: string, size: number, type = '0', target = ''): Buffer => {
  const bytes = Buffer.alloc(block);
  bytes.write(name, 0);
  bytes.write('0000755', 100);
  bytes.write(size.toString(8).padStart(11, '0'), 124);
  bytes.write(' '.repeat(8), 148);
  bytes.write(type, 156);
  bytes.write(target, 157);
  bytes.write('ustar\u000000', 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
};

/** Any tar, including invalid ones. */
export const tarOf = (members: readonly Member[]): Buffer =>
  Buffer.concat([
    ...members.flatMap(({ name, content = '', type, target }) => {
      const bytes = Buffer.from(content);
      return [tarHeader(name, bytes.length, type, target), padded(bytes)];
    }),
    Buffer.alloc(2 * block),
  ]);

export const tgzOf = (members: readonly Member[]): Buffer => gzipSync(tarOf(members));

export interface ZipMember {
  readonly name: string;
  readonly content: string;
  readonly mode?: number;
  /** Replaces the right checksum. */
  readonly sum?: number;
}

export const zipOf = (members: readonly ZipMember[]): Buffer => {
  const files: Buffer[] = [];
  const index: Buffer[] = [];
  let at = 0;
  for (const { name, content, mode = 0o100755, sum = crc32(content) } of members) {
    const packed = deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(sum, 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(Buffer.byteLength(content), 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(at, 42);
    files.push(head, Buffer.from(name), packed);
    index.push(entry, Buffer.from(name));
    at += head.length + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(Buffer.concat(index).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, ...index, end]);
};
