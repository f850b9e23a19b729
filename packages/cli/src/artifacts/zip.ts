import { type FileHandle, open } from 'node:fs/promises';
import { crc32, createInflateRaw } from 'node:zlib';

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const fileSignature = 0x04034b50;
const endLength = 22;
const maxCommentBytes = 0xffff;
const maxIndexBytes = 16 * 1024 * 1024;

interface ZipEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly sum: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/** The content of one member, which must exist exactly once and be a regular file. Its CRC is checked at the end. */
export async function* readZipMember(file: string, member: string, maxBytes: number): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    const found = (await entriesOf(handle)).filter(({ name }) => name === member);
    const [entry] = found;
    if (entry === undefined) throw new Error(`the archive has no ${member}.`);
    if (found.length > 1) throw new Error(`the archive has ${member} twice.`);
    if (!entry.isFile) throw new Error(`${member} in the archive is not a file.`);
    if (entry.isEncrypted || (entry.method !== 0 && entry.method !== 8))
      throw new Error(`${member} in the archive uses an unsupported compression.`);
    if (entry.size > maxBytes) throw new Error(`the archive unpacks to more than ${maxBytes} bytes.`);
    yield* contentOf(handle, entry);
  } finally {
    await handle.close();
  }
}

const readAt = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, at);
  if (bytesRead !== length) throw new Error('the archive is truncated.');
  return bytes;
};

const entriesOf = async (handle: FileHandle): Promise<ZipEntry[]> => {
  const { size } = await handle.stat();
  const tailLength = Math.min(size, endLength + maxCommentBytes);
  const tail = await readAt(handle, size - tailLength, tailLength);
  let end = tail.length - endLength;
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end -= 1;
  if (end < 0) throw new Error('the file is not a zip archive.');
  const [length, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (length > maxIndexBytes || start + length > size) throw new Error('the archive has an invalid index.');
  return parseIndex(await readAt(handle, start, length));
};

const parseIndex = (index: Buffer): ZipEntry[] => {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= index.length; ) {
    if (index.readUInt32LE(at) !== entrySignature) throw new Error('the archive has an invalid index.');
    const nameLength = index.readUInt16LE(at + 28);
    const mode = index.readUInt32LE(at + 38) >>> 16;
    const kind = mode & 0o170000;
    const name = index.toString('utf8', at + 46, at + 46 + nameLength);
    entries.push({
      name,
      // Archives from other systems than Unix have no mode.
      isFile: (kind === 0 || kind === 0o100000) && !name.endsWith('/'),
      isEncrypted: (index.readUInt16LE(at + 8) & 1) === 1,
      method: index.readUInt16LE(at + 10),
      sum: index.readUInt32LE(at + 16),
      packed: index.readUInt32LE(at + 20),
      size: index.readUInt32LE(at + 24),
      at: index.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + index.readUInt16LE(at + 30) + index.readUInt16LE(at + 32);
  }
  return entries;
};

async function* contentOf(handle: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const head = await readAt(handle, entry.at, 30);
  if (head.readUInt32LE(0) !== fileSignature) throw new Error('the archive has an invalid index.');
  const start = entry.at + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (entry.packed === 0) return;
  const packed = handle.createReadStream({ start, end: start + entry.packed - 1, autoClose: false });
  const content: AsyncIterable<Buffer> = entry.method === 0 ? packed : packed.pipe(createInflateRaw());
  packed.on('error', () => {});
  let [size, sum] = [0, 0];
  for await (const chunk of content) {
    size += chunk.length;
    sum = crc32(chunk, sum);
    if (size > entry.size) break;
    yield chunk;
  }
  if (size !== entry.size || sum !== entry.sum)
    throw new Error(`${entry.name} in the archive does not match its index.`);
}
