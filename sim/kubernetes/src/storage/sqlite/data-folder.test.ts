import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../errors/api-error.ts';
import type { KubeObject } from '../../object.ts';
import { memoryStorage } from '../memory.ts';
import type { Storage } from '../storage.ts';
import { openData, readData } from './data-folder.ts';
import { DataError, openDatabase, problemOf } from './database.ts';

const object = (name: string, value = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' },
  value,
});

/** The whole state of a storage. */
const seen = (storage: Storage) => ({
  revision: storage.revision,
  compacted: storage.compacted,
  now: storage.list(''),
  changes: storage.changes('', storage.compacted),
  past: Array.from({ length: storage.revision - storage.compacted }, (_, index) =>
    storage.list('', storage.compacted + index),
  ),
});

const refused = async (opening: Promise<unknown>): Promise<DataError> => {
  const error = await opening.then(
    () => assert.fail('it was opened'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DataError, String(error));
  return error;
};

describe('data in a folder', () => {
  let root = '';
  let serial = 0;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'tartan-data-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));
  const newFolder = (): string => join(root, String(++serial), 'data');
  const fileIn = (folder: string): string => join(folder, 'kubernetes.sqlite');

  it('equals the state in memory, however often it is opened again', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ key: fc.constantFrom('a/1', 'a/2', 'b/1'), remove: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constant('reopen' as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const folder = newFolder();
        const [history, expected] = [6, memoryStorage(6)];
        let data = await openData(folder, { history });
        for (const [index, each] of steps.entries()) {
          if (each === 'reopen') {
            data.close();
            data = await openData(folder, { history });
          } else
            for (const storage of [expected, data.storage])
              if (each.remove) storage.remove(each.key);
              else storage.put(each.key, object(each.key, String(index)));
        }
        assert.deepEqual(seen(data.storage), seen(expected));
        data.close();
      }),
      { numRuns: 40 },
    );
  });

  it('keeps any text unchanged, also a key named __proto__', async () => {
    const folder = newFolder();
    const strange: KubeObject = JSON.parse('{"metadata": {"name": "ß\\u0000\\ud83d\\ude00"}, "__proto__": {"x": 1}}');
    // Keys that JSON.parse confuses.
    Object.assign(strange, {
      keys: [
        { q: 0, '\\': 1 },
        { q: 0, '"': 1 },
      ],
    });
    const first = await openData(folder);
    const written = first.storage.put('a/ß', strange);
    // JSON.parse would read both keys as the same.
    const alike = ['\\', '"'].map((key) => first.storage.put(`b/${key}`, { ...object('1'), value: 0, [key]: 1 }));
    first.close();
    const second = await openData(folder);
    assert.deepEqual(second.storage.get('a/ß'), written);
    assert.deepEqual(second.storage.list('b/'), alike.reverse());
    assert.throws(() => Object.assign(second.storage.get('a/ß')?.metadata ?? {}, { name: 'x' }), TypeError);
    second.close();
  });

  it('keeps key-value pairs', async () => {
    const folder = newFolder();
    const first = await openData(folder);
    assert.equal(first.keyValues.get('x'), undefined);
    first.keyValues.set('x', '1');
    first.keyValues.set('x', '2');
    first.close();
    const second = await openData(folder);
    assert.equal(second.keyValues.get('x'), '2');
    second.close();
  });

  it('compacts old revisions', async () => {
    const folder = newFolder();
    const data = await openData(folder, { history: 10 });
    for (let count = 0; count < 500; count++) data.storage.put('a/1', object('1'));
    for (let count = 0; count < 50; count++) {
      data.storage.put(`b/${count}`, object('2'));
      data.storage.remove(`b/${count}`);
    }
    data.close();
    const file = new DatabaseSync(fileIn(folder));
    const rows = Number(file.prepare('SELECT count(*) AS rows FROM versions').get()?.['rows']);
    file.close();
    assert.ok(rows < 40, `${rows} rows`);
  });

  it('prints no warnings', async () => {
    const { emitWarning } = process;
    const said: unknown[] = [];
    const listen = (warning: unknown): unknown => said.push(warning);
    process.on('warning', listen);
    (await openData(newFolder())).close();
    await new Promise(setImmediate);
    process.off('warning', listen);
    assert.deepEqual(said, []);
    assert.equal(process.emitWarning, emitWarning);
  });

  it('is readable by its owner only, since it contains keys', async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    (await openData(folder)).close();
    assert.equal(statSync(fileIn(folder)).mode & 0o777, 0o600);
  });

  it('can be opened by one process at a time, and again after it was closed', async () => {
    const folder = newFolder();
    const first = await openData(folder);
    const error = await refused(openData(folder));
    assert.equal(error.problem, 'inUse');
    assert.match(error.message, /in use by another process.*Stop the other one, or choose another folder\.$/);
    await refused(openData(folder));
    first.close();
    first.close();
    (await openData(folder)).close();
  });

  it('of a newer format is left unchanged', async () => {
    const folder = newFolder();
    (await openData(folder)).close();
    const file = new DatabaseSync(fileIn(folder));
    file.exec('PRAGMA user_version = 2; DROP TABLE versions');
    file.close();
    const bytes = readFileSync(fileIn(folder));
    const error = await refused(openData(folder));
    assert.equal(error.problem, 'newerFormat');
    assert.match(
      error.message,
      /has format 2, but this release knows formats up to 1\..*Use the release that wrote it/,
    );
    assert.deepEqual(readFileSync(fileIn(folder)), bytes);
  });

  it('of another application is left unchanged', async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    const file = new DatabaseSync(fileIn(folder));
    file.exec('CREATE TABLE theirs (x)');
    file.close();
    const bytes = readFileSync(fileIn(folder));
    assert.equal((await refused(openData(folder))).problem, 'foreign');
    assert.deepEqual(readFileSync(fileIn(folder)), bytes);
  });

  it('that is no database is left unchanged', async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(fileIn(folder), 'not a database, but longer than its header would be'.repeat(30));
    const error = await refused(openData(folder));
    assert.equal(error.problem, 'damaged');
    assert.match(error.message, /cannot be read: file is not a database\. Nothing was changed\. .* from a backup/);
  });

  it('with a flipped bit is either refused or read as it was written', async () => {
    const folder = newFolder();
    const data = await openData(folder);
    for (let count = 0; count < 40; count++) data.storage.put(`a/${count % 30}`, object('1', 'x'.repeat(count * 9)));
    data.keyValues.set('keys', 'secret'.repeat(20));
    const written = seen(data.storage);
    data.close();
    const bytes = readFileSync(fileIn(folder));
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (position, bit) => {
        const turned = newFolder();
        mkdirSync(turned, { recursive: true });
        const changed = Buffer.from(bytes);
        changed[position] = (changed[position] ?? 0) ^ (1 << bit);
        writeFileSync(fileIn(turned), changed);
        let opened: Awaited<ReturnType<typeof openData>>;
        try {
          opened = await openData(turned);
        } catch (error) {
          assert.ok(error instanceof DataError, String(error));
          refusals++;
          return;
        }
        try {
          assert.deepEqual(seen(opened.storage), written);
          assert.equal(opened.keyValues.get('keys'), 'secret'.repeat(20));
        } catch (error) {
          assert.equal(problemOf(error), 'damaged', String(error));
        } finally {
          opened.close();
        }
      }),
      { numRuns: 150 },
    );
    assert.ok(refusals > 50, `${refusals} refusals`);
  });

  it('with a changed letter in the name of a key-value pair is read or refused', async () => {
    const folder = newFolder();
    const data = await openData(folder);
    data.keyValues.set('keys', 'secret');
    data.close();
    const bytes = readFileSync(fileIn(folder));
    const problems: string[] = [];
    // In the table, and in its index.
    for (let at = bytes.indexOf('keys'); at !== -1; at = bytes.indexOf('keys', at + 1)) {
      const turned = newFolder();
      mkdirSync(turned, { recursive: true });
      const changed = Buffer.from(bytes);
      changed[at] = 'K'.charCodeAt(0);
      writeFileSync(fileIn(turned), changed);
      try {
        const opened = await openData(turned);
        problems.push(opened.keyValues.get('keys') ?? 'lost');
        opened.close();
      } catch (error) {
        problems.push(problemOf(error));
      }
    }
    assert.deepEqual(problems.toSorted(), ['damaged', 'secret']);
  });

  it('in a folder that cannot be created is refused', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const error = await refused(openData(join(file, 'data')));
    assert.equal(error.problem, 'unusable');
    assert.match(error.message, /cannot be used: ENOTDIR.*choose another folder/);
  });

  it('on a full disk refuses writes, loses nothing, and continues when there is space', async () => {
    const folder = newFolder();
    const database = await openDatabase(folder);
    const reported: unknown[] = [];
    const data = readData(database, folder, { history: 5, report: (error) => reported.push(error) });
    const { storage } = data;
    database.exec('PRAGMA max_page_count = 12');
    const fill = (): void => {
      for (let count = 0; count < 1000; count++) storage.put(`a/${count}`, object('1', 'x'.repeat(500)));
    };
    const isRefusal = (error: unknown): boolean =>
      error instanceof ApiError &&
      error.code === 500 &&
      /nothing was written: the disk that holds .* is full/.test(error.message);
    assert.throws(fill, isRefusal);
    const before = seen(storage);
    assert.throws(() => storage.put('a/0', object('0', 'y'.repeat(9000))), isRefusal);
    assert.deepEqual(seen(storage), before);
    assert.equal(reported.length, 1, 'it is reported once');
    database.exec('PRAGMA max_page_count = 100000');
    storage.put('b/1', object('1'));
    const after = seen(storage);
    data.close();
    const again = await openData(folder, { history: 5 });
    assert.deepEqual(seen(again.storage), after);
    again.close();
  });

  it('refuses writes after it was closed', async () => {
    const data = await openData(newFolder());
    data.close();
    assert.throws(() => data.storage.put('a/1', object('1')), /the server has been stopped/);
  });
});
