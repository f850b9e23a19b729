import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { bufferSize } from '../connection/command-input.ts';
import { describeArtifact, openArtifact } from './artifact.ts';

describe('an artifact', () => {
  const content = Buffer.alloc(bufferSize * 3 + 7, 'content of the artifact ');
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-artifact-'));
    file = join(folder, 'file');
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => writeFileSync(file, content));

  test('is identified by its content', async () => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    assert.deepEqual(await describeArtifact(file, 'tart 2'), { name: 'tart 2', sha256, size: content.length, file });
    await assert.rejects(describeArtifact(join(folder, 'none'), 'none'), /ENOENT/);
  });

  test('is read completely by each reader', async () => {
    const artifact = await describeArtifact(file, 'tart');
    const copies = await Promise.all([buffer(openArtifact(artifact)), buffer(openArtifact(artifact))]);
    for (const copy of copies) assert(copy.equals(content));
    writeFileSync(file, '');
    assert.equal((await buffer(openArtifact(await describeArtifact(file, 'empty')))).length, 0);
  });

  test('costs each push a few small buffers, however large it is and however slowly its Mac reads (INC-11)', async () => {
    writeFileSync(file, Buffer.alloc(bufferSize * 40));
    const artifact = await describeArtifact(file, 'agent');
    const pushes = Array.from({ length: 20 }, () => openArtifact(artifact));
    for (const push of pushes) {
      await once(push, 'readable');
      push.read(1);
    }
    // A push at full speed reads the whole file meanwhile.
    await buffer(openArtifact(artifact));
    for (const push of pushes) {
      assert.ok(push.readableLength <= 4 * bufferSize, `${push.readableLength} bytes wait for one Mac`);
      push.destroy();
    }
  });

  test('that is longer, shorter or deleted cannot be read', async () => {
    const artifact = await describeArtifact(file, 'tart');
    appendFileSync(file, 'x');
    const longer = openArtifact(artifact).on('data', () => assert.fail('something was read'));
    await assert.rejects(buffer(longer), /no longer the tart that it was: it changed on our side/);
    truncateSync(file, 10);
    await assert.rejects(buffer(openArtifact(artifact)), /changed on our side/);
    rmSync(file);
    await assert.rejects(buffer(openArtifact(artifact)), /ENOENT/);
  });

  test('that changes while it is read is an error', async () => {
    const artifact = await describeArtifact(file, 'tart');
    const change = [
      () => writeFileSync(file, Buffer.alloc(content.length, 'y')),
      () => truncateSync(file, bufferSize),
      () => appendFileSync(file, 'more'),
    ];
    for (const write of change) {
      writeFileSync(file, content);
      // Some file systems have times only in milliseconds.
      utimesSync(file, 1, 1);
      const reading = openArtifact(artifact);
      await new Promise((resolve) => reading.once('readable', resolve));
      write();
      await assert.rejects(buffer(reading), /changed on our side/);
    }
  });

  test('that is not read to its end is closed', async () => {
    const reading = openArtifact(await describeArtifact(file, 'tart'));
    await new Promise((resolve) => reading.once('readable', resolve));
    reading.destroy();
    await new Promise((resolve) => reading.once('close', resolve));
  });
});
