import { gzipSync } from 'node:zlib';

const field = (value: string, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.write(value);
  return bytes;
};
const octal = (value: number, length: number): Buffer => field(value.toString(8).padStart(length - 1, '0'), length);

const header = (path: string, size: number): Buffer => {
  const block = Buffer.concat([
    field(path, 100),
    octal(0o755, 8),
    octal(0, 8),
    octal(0, 8),
    octal(size, 12),
    octal(0, 12),
    field('        ', 8),
    field('0', 1),
    field('', 100),
    field('ustar\u000000', 8),
    Buffer.alloc(512 - 265),
  ]);
  const sum = block.reduce((total, byte) => total + byte, 0);
  octal(sum, 7).copy(block, 148);
  return block;
};

/** A gzipped tar of executables. Its bytes, and so its hash, are the same on every machine and at every time. */
export const tinyTar = (files: Readonly<Record<string, string>>): Buffer =>
  gzipSync(
    Buffer.concat([
      ...Object.entries(files).flatMap(([path, text]) => {
        const content = Buffer.from(text);
        return [header(path, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
      }),
      Buffer.alloc(1024),
    ]),
  );
