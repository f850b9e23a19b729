import { gzipSync } from 'node:zlib';

export interface TarFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
}

const blockSize = 512;
const field = (text: string, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.write(text, 'latin1');
  return bytes;
};
const octal = (value: number, length: number): Buffer => field(value.toString(8).padStart(length - 1, '0'), length);

/** A POSIX ustar header: owned by root, with time 0. */
const header = (path: string, mode: number, size: number, type: '0' | '5'): Buffer => {
  if (Buffer.byteLength(path) > 100) throw new RangeError(`too long for a tar of ours: ${path}`);
  const bytes = Buffer.concat([
    field(path, 100),
    octal(mode, 8),
    octal(0, 8),
    octal(0, 8),
    octal(size, 12),
    octal(0, 12),
    field(' '.repeat(8), 8),
    field(type, 1),
    field('', 100),
    field('ustar\u000000', 8),
    field('root', 32),
    field('wheel', 32),
    Buffer.alloc(blockSize - 329),
  ]);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  field(`${sum.toString(8).padStart(6, '0')}\0 `, 8).copy(bytes, 148);
  return bytes;
};

const foldersOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => `${parts.slice(0, at + 1).join('/')}/`);

/** A gzipped tar with its folders, reproducible byte by byte on any machine. */
export const gzippedTar = (files: readonly TarFile[]): Buffer => {
  const folders = [...new Set(files.flatMap(({ path }) => foldersOf(path)))];
  const tar = Buffer.concat([
    ...folders.map((folder) => header(folder, 0o755, 0, '5')),
    ...files.flatMap(({ path, mode, text }) => {
      const content = Buffer.from(text);
      return [
        header(path, mode, content.length, '0'),
        content,
        Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize),
      ];
    }),
    Buffer.alloc(2 * blockSize),
  ]);
  const zipped = gzipSync(tar, { level: 9 });
  // The tenth byte is the operating system; 255 means unknown.
  zipped[9] = 255;
  return zipped;
};
