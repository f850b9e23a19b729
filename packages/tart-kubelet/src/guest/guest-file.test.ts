import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { readGuestFile } from './guest-file.ts';

describe('a file that a guest can write', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'guest-files-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  const refusal = async (name: string): Promise<string> => {
    const content = await readGuestFile(folder, name, 10);
    assert.equal(content.kind, 'refused');
    return content.kind === 'refused' ? content.reason : '';
  };

  test('is read completely when it fits', async () => {
    const content = await readGuestFile(folder, write('exit', '0123456789'), 10);
    assert.deepEqual(content, { kind: 'read', bytes: Buffer.from('0123456789'), truncated: false });
  });

  test('is truncated at the limit and marked as truncated', async () => {
    const content = await readGuestFile(folder, write('long', '0123456789A'), 10);
    assert.deepEqual(content, { kind: 'read', bytes: Buffer.from('0123456789'), truncated: true });
  });

  test('is read in pieces, completely or up to the limit', async () => {
    const text = 'abcdefghij'.repeat(1000);
    write('pieces', text);
    for (const limit of [4095, 4096, 8192, 9_999, 10_000, 10_001]) {
      const content = await readGuestFile(folder, 'pieces', limit);
      const bytes = Buffer.from(text.slice(0, limit));
      assert.deepEqual(content, { kind: 'read', bytes, truncated: limit < text.length }, `limit ${limit}`);
    }
  });

  test('uses no more memory than its length, however high the limit is', async () => {
    const content = await readGuestFile(folder, write('short', '0'), 2 ** 20);
    assert.ok(content.kind === 'read' && content.bytes.buffer.byteLength < 2 ** 17);
  });

  test('that is huge is read up to the limit only', async () => {
    truncateSync(join(folder, write('huge', '')), 2 ** 40);
    const content = await readGuestFile(folder, 'huge', 10);
    assert.equal(content.kind === 'read' && content.truncated, true);
  });

  test('may be missing', async () => {
    assert.deepEqual(await readGuestFile(folder, 'nothing', 10), { kind: 'missing' });
  });

  test('is not read through a symlink to a host file', async () => {
    symlinkSync('/etc/passwd', join(folder, 'link'));
    assert.equal(await refusal('link'), 'it is a link');
  });

  test('is not read through a dangling symlink', async () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    assert.equal(await refusal('dangling'), 'it is a link');
  });

  test('that is a FIFO without a writer does not block', { timeout: 60_000 }, async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    assert.equal(await refusal('pipe'), 'it is no regular file');
  });

  test('is refused when it is a folder', async () => {
    mkdirSync(join(folder, 'folder'));
    assert.equal(await refusal('folder'), 'it is no regular file');
  });

  test('is refused when it is a socket', async () => {
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    try {
      assert.match(await refusal('socket'), /cannot be opened/);
    } finally {
      server.close();
    }
  });

  test('is refused when its name is a path, as a folder in it could be a symlink', async () => {
    mkdirSync(join(folder, 'inner'));
    writeFileSync(join(folder, 'inner', 'file'), 'text');
    for (const name of ['inner/file', '../x', '..', '.', '', '/etc/passwd', 'a\0b']) {
      assert.equal(await refusal(name), 'it is not the name of a file');
    }
  });

  test('never leads out of the folder, for any name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 20 }), async (name) => {
        const content = await readGuestFile(join(folder, 'inner'), name, 10);
        assert.ok(content.kind !== 'read' || name === 'file');
      }),
      { numRuns: 200 },
    );
  });
});
