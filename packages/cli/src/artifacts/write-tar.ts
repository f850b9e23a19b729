import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const block = 512;

const header = (name: string, size: number): Buffer => {
  const bytes = Buffer.alloc(block);
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

async function* tarOf(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    const { size } = await stat(file);
    yield header(basename(file), size);
    yield* createReadStream(file);
    yield Buffer.alloc((block - (size % block)) % block);
  }
  yield Buffer.alloc(2 * block);
}

/**
 * A gzipped tar of executables, each at its top. Owners and times are nobody's and never: what a Mac has is known by the sum of this
 * file, so building an image again must not change it.
 */
export const writeTar = (files: readonly string[], to: string): Promise<void> =>
  pipeline(tarOf(files), createGzip({ level: 9 }), createWriteStream(to, { flags: 'wx' }));
