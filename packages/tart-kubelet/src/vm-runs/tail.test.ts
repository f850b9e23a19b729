import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { LogWriter } from '../logs/log-writer.ts';
import type { Position } from './copy-checkpoint.ts';
import { type CopyOptions, createTail, type Tail } from './tail.ts';

describe('the tail of a growing file', () => {
  let folder: string;
  let file: string;
  let tail: Tail;
  let position: Position;
  let text: string;
  let flushes: number;
  let isFailing: boolean;
  let refusals: string[];
  const writer: LogWriter = {
    write: async (_, chunk) => {
      if (!isFailing) text += Buffer.from(chunk).toString('latin1');
    },
    flush: async () => {
      flushes += 1;
    },
    isFailing: () => isFailing,
    close: async () => {},
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-tail-'));
    file = join(folder, 'runner.log');
    [position, text, flushes, isFailing, refusals] = [{ file: 0, offset: 0 }, '', 0, false, []];
    tail = createTail({ folder, name: 'runner.log', stream: 'stdout' }, (why) => refusals.push(why));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const copy = (options: Partial<CopyOptions> = {}): Promise<boolean> =>
    tail.copy(position, {
      isLast: false,
      maxBytes: 256 * 1024,
      maxBehind: 1024 * 1024,
      writer,
      onCopied: async (next) => {
        position = next;
      },
      ...options,
    });

  test('may appear later, and is copied line by line', async () => {
    assert.equal(await copy(), false);
    writeFileSync(file, 'one\ntw');
    assert.equal(await copy(), true);
    assert.equal(await copy(), false);
    appendFileSync(file, 'o\n');
    assert.equal(await copy(), true);
    assert.equal(text, 'one\ntwo\n');
    assert.equal(flushes, 0);
  });

  test('continues at its position after a restart', async () => {
    writeFileSync(file, 'one\ntwo\nthr');
    await copy();
    tail = createTail({ folder, name: 'runner.log', stream: 'stdout' }, () => {});
    appendFileSync(file, 'ee\n');
    await copy();
    assert.equal(text, 'one\ntwo\nthree\n');
  });

  test('copies an unfinished last line at the end', async () => {
    writeFileSync(file, 'one\ntw');
    await copy({ isLast: true });
    assert.equal(text, 'one\ntw\n');
  });

  test('copies long lines in parts without holding any back (INC-04)', async () => {
    const long = 'word '.repeat(40_000);
    writeFileSync(file, `${long}\nnext\n`);
    await copy();
    assert.equal(text, `${long}\nnext\n`);
    assert.ok(flushes > 0);
    assert.equal(position.offset, text.length);
  });

  test('copies a bounded number of bytes per pass', async () => {
    writeFileSync(file, 'a line\n'.repeat(100_000));
    await copy({ maxBytes: 100_000 });
    assert.ok(text.length >= 100_000 && text.length < 200_000);
    for (let left = 20; left > 0 && (await copy({ maxBytes: 100_000 })); left--);
    assert.equal(text, readFileSync(file, 'latin1'));
  });

  test('skips the beginning of a backlog that is too large, and says so', async () => {
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
    appendFileSync(file, '\nthe end\n');
    await copy({ isLast: true, maxBehind: 100_000 });
    assert.match(text, /^\[\d+ bytes are left out: more came than is kept\]\n/);
    assert.ok(text.endsWith('\nthe end\n'));
    assert.ok(text.length < 101_000);
  });

  test('starts again when the file is truncated or replaced', async () => {
    writeFileSync(file, 'a long first line\n');
    await copy();
    truncateSync(file);
    appendFileSync(file, 'cut\n');
    await copy();
    writeFileSync(join(folder, 'other'), 'another file, and a longer one\n');
    renameSync(join(folder, 'other'), file);
    await copy();
    assert.equal(text, 'a long first line\ncut\nanother file, and a longer one\n');
  });

  test('refuses a symlink, a pipe or a folder, and checks it once (INC-34)', {
    timeout: 60_000,
  }, async () => {
    for (const plant of [
      () => symlinkSync('/etc/passwd', file),
      () => execFileSync('mkfifo', [file]),
      () => mkdirSync(file),
    ]) {
      rmSync(file, { force: true, recursive: true });
      plant();
      await copy();
      await copy();
      await copy({ isLast: true });
    }
    assert.equal(text, '');
    // The last copy checks everything once more.
    const none = 'it is no regular file';
    assert.deepEqual(refusals, ['it is a link', 'it is a link', none, none, none, none]);
  });

  test('does not advance while the log cannot be written', async () => {
    writeFileSync(file, 'one\n');
    isFailing = true;
    assert.equal(await copy(), false);
    assert.equal(position.offset, 0);
    isFailing = false;
    assert.equal(await copy(), true);
    assert.equal(text, 'one\n');
  });
});
