import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { createLogFiles, rotatedPath } from './log-files.ts';
import { createLogNotifier } from './log-notifier.ts';
import { createLineSplitter, formatLogTime, formatRecord, parseRecord } from './log-record.ts';
import { createLogWriter, type LogWriter } from './log-writer.ts';
import { type FollowOptions, formatLog, type FormatOptions, readLogRecords } from './read-log.ts';

describe('a record of a log', () => {
  test('holds time, stream and text', () => {
    const record = { time: formatLogTime(0), stream: 'stderr', full: true, text: Buffer.from('hello') } as const;
    assert.equal(formatRecord(record).toString(), '1970-01-01T00:00:00.000000000Z stderr F hello\n');
  });

  test('round-trips', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }),
        fc.constantFrom('stdout', 'stderr'),
        fc.boolean(),
        fc.uint8Array({ maxLength: 100 }),
        (date, stream, full, bytes) => {
          const text = Buffer.from(bytes.filter((byte) => byte !== 10));
          const record = { time: formatLogTime(date.getTime()), stream, full, text };
          assert.deepEqual(parseRecord(formatRecord(record).subarray(0, -1)), record);
        },
      ),
    );
  });

  test('is not parsed from anything else', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.equal(parseRecord(Buffer.from(bytes)), undefined)));
    const line = '2026-01-01T00:00:00.000000000Z stdout F text';
    assert.ok(parseRecord(Buffer.from(line)));
    for (let cut = 0; cut < 40; cut += 1) assert.equal(parseRecord(Buffer.from(line.slice(0, cut))), undefined);
  });
});

describe('lines', () => {
  test('do not depend on chunk boundaries, and no part exceeds the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[ab\n]{0,12}$/), { maxLength: 8 }),
        fc.integer({ min: 1, max: 5 }),
        (chunks, longest) => {
          const splitter = createLineSplitter(longest);
          const pieces = [...chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk))), ...splitter.flush()];
          const text = pieces.map((piece) => `${piece.text.toString()}${piece.full ? '\n' : ''}`).join('');
          assert.equal(text, chunks.join(''));
          assert.ok(pieces.every((piece) => piece.text.length <= longest && !piece.text.includes(10)));
        },
      ),
    );
  });
});

describe('the log of a container', () => {
  let root = '';
  let count = 0;
  let clock: ManualClock;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'logs-'));
    clock = manualClock();
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const openLog = (maxBytes?: number) => {
    const path = join(root, `${(count += 1)}.log`);
    const notifier = createLogNotifier(clock);
    const problems: unknown[] = [];
    const writer = createLogWriter({
      path,
      clock,
      notifier,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      onError: (error) => problems.push(error),
    });
    return { path, notifier, writer, problems };
  };
  const print = (writer: LogWriter, text: string): Promise<void> => writer.write('stdout', Buffer.from(text));
  const show = async (path: string, options: FormatOptions & { tailLines?: number; follow?: FollowOptions } = {}) => {
    const parts: Buffer[] = [];
    for await (const part of formatLog(readLogRecords(path, options), options)) parts.push(part);
    return Buffer.concat(parts).toString();
  };

  test('is read with or without timestamps', async () => {
    const { path, writer } = openLog();
    await print(writer, 'one\ntw');
    clock.advance(1500);
    await print(writer, 'o\nthree');
    await writer.close();
    assert.equal(await show(path), 'one\ntwo\nthree');
    const time = (milliseconds: number): string => formatLogTime(clock.now() - milliseconds);
    assert.equal(await show(path, { timestamps: true }), `${time(1500)} one\n${time(0)} two\n${time(0)} three`);
    assert.equal(await show(path, { since: time(0) }), 'two\nthree');
    assert.equal(statSync(path).mode & 0o077, 0, 'only ours');
  });

  test('supports tailLines and limitBytes', async () => {
    const { path, writer } = openLog();
    await print(writer, 'one\ntwo\nthree\nfour\n');
    assert.equal(await show(path, { tailLines: 2 }), 'three\nfour\n');
    assert.equal(await show(path, { tailLines: 99 }), 'one\ntwo\nthree\nfour\n');
    assert.equal(await show(path, { tailLines: 0 }), '');
    assert.equal(await show(path, { limitBytes: 5 }), 'one\nt');
    await print(writer, 'fi');
    await writer.close();
    assert.equal(await show(path, { tailLines: 2 }), 'four\nfi', 'a line without its end is one');
  });

  test('finds the last lines of a log of any length', async () => {
    const { path, writer } = openLog();
    const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'x'.repeat(index % 97)}`);
    await print(writer, `${lines.join('\n')}\n`);
    await writer.close();
    for (const tailLines of [1, 700, 3000, 4999, 5000, 5001]) {
      assert.equal(await show(path, { tailLines }), `${lines.slice(-tailLines).join('\n')}\n`);
    }
  });

  test('counts a line of several partial records as one', async () => {
    const { path, writer } = openLog();
    await print(writer, `first\n${'x'.repeat(40_000)}\nlast\n`);
    await writer.close();
    assert.equal(await show(path, { tailLines: 2 }), `${'x'.repeat(40_000)}\nlast\n`);
    const shown = await show(path, { timestamps: true });
    assert.equal(shown.split(formatLogTime(clock.now())).length - 1, 3);
  });

  test('is rotated, and keeps one rotated file', async () => {
    const { path, writer } = openLog(100);
    for (const text of ['1', '2', '3', '4', '5']) await print(writer, `${text}\n`);
    await writer.close();
    assert.equal(await show(path), '3\n4\n5\n');
    assert.equal(await show(path, { tailLines: 2 }), '4\n5\n', 'over both generations');
    assert.ok(statSync(path).size <= 100 && statSync(rotatedPath(path)).size <= 100);
    assert.equal(existsSync(rotatedPath(rotatedPath(path))), false);
  });

  test('is continued after a crash truncated its last record', async () => {
    const { path, writer } = openLog();
    await print(writer, 'one\n');
    await writer.close();
    appendFileSync(path, '2026-01-01T00:00:00.0000');
    const again = createLogWriter({ path, clock, notifier: createLogNotifier(clock) });
    await print(again, 'two\n');
    await again.close();
    assert.equal(await show(path), 'one\ntwo\n');
  });

  test('is followed across rotations to its end without losing a line', async () => {
    const { path, writer, notifier } = openLog(200);
    await print(writer, '0\n');
    let ended = false;
    const wanted = Array.from({ length: 60 }, (_, index) => `${index}\n`).join('');
    const follow = { notifier, ended: () => ended, signal: new AbortController().signal };
    let seen = '';
    let next = 1;
    for await (const part of formatLog(readLogRecords(path, { follow }), {})) {
      seen += part.toString();
      // Written while the reader is at the end: at most one rotation ahead of it.
      for (let line = 0; line < 3 && next < 60; line += 1, next += 1) await print(writer, `${next}\n`);
      if (next === 60 && !ended) {
        ended = true;
        await writer.close();
      }
    }
    assert.equal(seen, wanted);
  });

  test('that does not exist yet can be followed', async () => {
    const { path, writer, notifier } = openLog();
    let ended = false;
    const follow = { notifier, ended: () => ended, signal: new AbortController().signal };
    const shown = show(path, { follow });
    await print(writer, 'hello\n');
    ended = true;
    await writer.close();
    assert.equal(await shown, 'hello\n');
    assert.equal(await show(`${path}.none`), '');
  });

  test('is closed when its reader stops', async () => {
    const { path, writer, notifier } = openLog();
    await print(writer, 'hello\n');
    const reader = new AbortController();
    const shown = show(path, { follow: { notifier, ended: () => false, signal: reader.signal } });
    reader.abort();
    assert.ok(['hello\n', ''].includes(await shown));
    await writer.close();
  });

  test('that cannot be written does not fail the VM, and is logged once', async () => {
    const notifier = createLogNotifier(clock);
    const problems: unknown[] = [];
    const path = join(root, 'no', 'folder.log');
    const writer = createLogWriter({ path, clock, notifier, onError: (error) => problems.push(error) });
    await print(writer, 'lost\n');
    await print(writer, 'lost\n');
    await writer.close();
    assert.equal(problems.length, 1);
  });

  test('with malformed records shows the valid ones', async () => {
    const { path, writer } = openLog();
    writeFileSync(path, `${'y'.repeat(100_000)}\nrubbish\n`);
    await print(writer, 'one\n');
    await writer.close();
    assert.equal(await show(path), 'one\n');
    assert.equal(await show(path, { tailLines: 3 }), 'one\n');
  });
});

describe('the folder of logs', () => {
  let root = '';
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'log-files-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));
  const podUID = '0b6f6f4a-93c3-4f0e-8a31-6f1f4f6b0001';

  test('keeps the current and the previous run, and is removed with the Pod (INC-423)', async () => {
    const files = createLogFiles(join(root, 'pods'));
    assert.deepEqual(await files.podUIDs(), []);
    for (const run of [0, 1, 2]) {
      const path = await files.prepare({ podUID, container: 'vm', run });
      writeFileSync(path, '');
      writeFileSync(rotatedPath(path), '');
    }
    const there = (run: number): boolean => existsSync(files.pathOf({ podUID, container: 'vm', run }));
    assert.deepEqual([there(0), there(1), there(2)], [false, true, true]);
    assert.deepEqual(await files.podUIDs(), [podUID]);
    await files.remove(podUID);
    await files.remove(podUID);
    assert.deepEqual(await files.podUIDs(), []);
  });

  test('rejects names that lead out of it', async () => {
    const files = createLogFiles(root);
    assert.throws(() => files.pathOf({ podUID: '../x', container: 'vm', run: 0 }), /no uid of a Pod/);
    assert.throws(() => files.pathOf({ podUID, container: '../x', run: 0 }), /no name of a container/);
    await assert.rejects(async () => files.remove('..'), /no uid of a Pod/);
  });
});
