import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { createLogChanges } from './log-changes.ts';
import { createLogFiles, olderGeneration } from './log-files.ts';
import { formatRecord, logTime, parseRecord } from './log-line.ts';
import { createLogWriter, type LogWriter } from './log-writer.ts';
import { type Follow, readRecords } from './read-records.ts';
import { showLog, type ShowOptions } from './show-log.ts';
import { createLineSplitter } from './split-lines.ts';

describe('a record of a log', () => {
  test('holds time, stream and text', () => {
    const record = { time: logTime(0), stream: 'stderr', full: true, text: Buffer.from('hello') } as const;
    assert.equal(formatRecord(record).toString(), '1970-01-01T00:00:00.000000000Z stderr F hello\n');
  });

  test('comes back as it was written', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }),
        fc.constantFrom('stdout', 'stderr'),
        fc.boolean(),
        fc.uint8Array({ maxLength: 100 }),
        (date, stream, full, bytes) => {
          const text = Buffer.from(bytes.filter((byte) => byte !== 10));
          const record = { time: logTime(date.getTime()), stream, full, text };
          assert.deepEqual(parseRecord(formatRecord(record).subarray(0, -1)), record);
        },
      ),
    );
  });

  test('is not found in anything else', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.equal(parseRecord(Buffer.from(bytes)), undefined)));
    const line = '2026-01-01T00:00:00.000000000Z stdout F text';
    assert.ok(parseRecord(Buffer.from(line)));
    for (let cut = 0; cut < 40; cut += 1) assert.equal(parseRecord(Buffer.from(line.slice(0, cut))), undefined);
  });
});

describe('lines', () => {
  test('do not depend on how the bytes came, and no piece is longer than allowed', () => {
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
    const changes = createLogChanges(clock);
    const problems: unknown[] = [];
    const writer = createLogWriter({
      path,
      clock,
      changes,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      onProblem: (error) => problems.push(error),
    });
    return { path, changes, writer, problems };
  };
  const print = (writer: LogWriter, text: string): Promise<void> => writer.write('stdout', Buffer.from(text));
  const show = async (path: string, options: ShowOptions & { tailLines?: number; follow?: Follow } = {}) => {
    const parts: Buffer[] = [];
    for await (const part of showLog(readRecords(path, options), options)) parts.push(part);
    return Buffer.concat(parts).toString();
  };

  test('shows what was printed, with the time of each line if asked', async () => {
    const { path, writer } = openLog();
    await print(writer, 'one\ntw');
    clock.advance(1500);
    await print(writer, 'o\nthree');
    await writer.close();
    assert.equal(await show(path), 'one\ntwo\nthree');
    const time = (milliseconds: number): string => logTime(clock.now() - milliseconds);
    assert.equal(await show(path, { timestamps: true }), `${time(1500)} one\n${time(0)} two\n${time(0)} three`);
    assert.equal(await show(path, { since: time(0) }), 'two\nthree');
    assert.equal(statSync(path).mode & 0o077, 0, 'only ours');
  });

  test('may be read from its end, and not further than so many bytes', async () => {
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

  test('has its last lines found however long the log is', async () => {
    const { path, writer } = openLog();
    const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'x'.repeat(index % 97)}`);
    await print(writer, `${lines.join('\n')}\n`);
    await writer.close();
    for (const tailLines of [1, 700, 3000, 4999, 5000, 5001]) {
      assert.equal(await show(path, { tailLines }), `${lines.slice(-tailLines).join('\n')}\n`);
    }
  });

  test('counts a line that was kept in pieces as one', async () => {
    const { path, writer } = openLog();
    await print(writer, `first\n${'x'.repeat(40_000)}\nlast\n`);
    await writer.close();
    assert.equal(await show(path, { tailLines: 2 }), `${'x'.repeat(40_000)}\nlast\n`);
    const shown = await show(path, { timestamps: true });
    assert.equal(shown.split(logTime(clock.now())).length - 1, 3);
  });

  test('is rotated, and keeps one generation', async () => {
    const { path, writer } = openLog(100);
    for (const text of ['1', '2', '3', '4', '5']) await print(writer, `${text}\n`);
    await writer.close();
    assert.equal(await show(path), '3\n4\n5\n');
    assert.equal(await show(path, { tailLines: 2 }), '4\n5\n', 'over both generations');
    assert.ok(statSync(path).size <= 100 && statSync(olderGeneration(path)).size <= 100);
    assert.equal(existsSync(olderGeneration(olderGeneration(path))), false);
  });

  test('goes on in the same file after a crash that cut its last record', async () => {
    const { path, writer } = openLog();
    await print(writer, 'one\n');
    await writer.close();
    appendFileSync(path, '2026-01-01T00:00:00.0000');
    const again = createLogWriter({ path, clock, changes: createLogChanges(clock) });
    await print(again, 'two\n');
    await again.close();
    assert.equal(await show(path), 'one\ntwo\n');
  });

  test('is followed over rotations until it has ended, without losing a line', async () => {
    const { path, writer, changes } = openLog(200);
    await print(writer, '0\n');
    let ended = false;
    const wanted = Array.from({ length: 60 }, (_, index) => `${index}\n`).join('');
    const follow = { changes, ended: () => ended, signal: new AbortController().signal };
    let seen = '';
    let next = 1;
    for await (const part of showLog(readRecords(path, { follow }), {})) {
      seen += part.toString();
      // Written while the reader is at the end: at most one generation ahead of it.
      for (let line = 0; line < 3 && next < 60; line += 1, next += 1) await print(writer, `${next}\n`);
      if (next === 60 && !ended) {
        ended = true;
        await writer.close();
      }
    }
    assert.equal(seen, wanted);
  });

  test('that does not exist yet is waited for by who follows it', async () => {
    const { path, writer, changes } = openLog();
    let ended = false;
    const follow = { changes, ended: () => ended, signal: new AbortController().signal };
    const shown = show(path, { follow });
    await print(writer, 'hello\n');
    ended = true;
    await writer.close();
    assert.equal(await shown, 'hello\n');
    assert.equal(await show(`${path}.none`), '');
  });

  test('is let go of when its reader leaves', async () => {
    const { path, writer, changes } = openLog();
    await print(writer, 'hello\n');
    const leave = new AbortController();
    const shown = show(path, { follow: { changes, ended: () => false, signal: leave.signal } });
    leave.abort();
    assert.ok(['hello\n', ''].includes(await shown));
    await writer.close();
  });

  test('cannot be written: whoever prints is told nothing, the operator once', async () => {
    const changes = createLogChanges(clock);
    const problems: unknown[] = [];
    const path = join(root, 'no', 'folder.log');
    const writer = createLogWriter({ path, clock, changes, onProblem: (error) => problems.push(error) });
    await print(writer, 'lost\n');
    await print(writer, 'lost\n');
    await writer.close();
    assert.equal(problems.length, 1);
  });

  test('takes a stream to its end', async () => {
    const { path, writer } = openLog();
    const source = async function* () {
      yield Buffer.from('a');
      yield Buffer.from('b\nc');
    };
    await writer.copy('stderr', source());
    await writer.close();
    assert.match(readFileSync(path, 'utf8'), /stderr F ab\n.* stderr P c\n$/);
  });

  test('with rubbish in it shows the rest', async () => {
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

  test('keeps this run and the one before, and goes with the Pod (G23)', async () => {
    const files = createLogFiles(join(root, 'pods'));
    assert.deepEqual(await files.podUIDs(), []);
    for (const run of [0, 1, 2]) {
      const path = await files.prepare({ podUID, container: 'vm', run });
      writeFileSync(path, '');
      writeFileSync(olderGeneration(path), '');
    }
    const there = (run: number): boolean => existsSync(files.pathOf({ podUID, container: 'vm', run }));
    assert.deepEqual([there(0), there(1), there(2)], [false, true, true]);
    assert.deepEqual(await files.podUIDs(), [podUID]);
    await files.remove(podUID);
    await files.remove(podUID);
    assert.deepEqual(await files.podUIDs(), []);
  });

  test('is never left by a name', async () => {
    const files = createLogFiles(root);
    assert.throws(() => files.pathOf({ podUID: '../x', container: 'vm', run: 0 }), /no uid of a Pod/);
    assert.throws(() => files.pathOf({ podUID, container: '../x', run: 0 }), /no name of a container/);
    await assert.rejects(async () => files.remove('..'), /no uid of a Pod/);
  });
});
