import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { cacheFolder, cacheKey, fillOnce } from './cache.ts';

const temporaryFolder = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-cache-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test('the cache folder is TARTAN_CACHE, else below XDG_CACHE_HOME, else below the home folder', () => {
  assert.equal(cacheFolder({ TARTAN_CACHE: '/a', XDG_CACHE_HOME: '/b' }), '/a');
  assert.equal(cacheFolder({ XDG_CACHE_HOME: '/b' }), '/b/tartan');
  assert.match(cacheFolder({}), /\.cache\/tartan$/);
});

test('the key changes with every part, and with the boundaries of parts', () => {
  const keys = [['a', 'b'], ['a', 'c'], ['ab', ''], ['a'], ['b', 'a']].map(cacheKey);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(cacheKey(['a', 'b']), cacheKey(['a', 'b']));
});

test('a folder is filled once', async (t) => {
  const folder = join(temporaryFolder(t), 'module');
  let fills = 0;
  const fill = async (temporary: string): Promise<void> => {
    fills += 1;
    writeFileSync(join(temporary, 'binary'), 'content');
  };
  await fillOnce(folder, fill);
  await fillOnce(folder, fill);
  assert.equal(fills, 1);
  assert.equal(readFileSync(join(folder, 'binary'), 'utf8'), 'content');
});

test('a fill that fails leaves nothing behind, and the next one may succeed', async (t) => {
  const parent = temporaryFolder(t);
  const folder = join(parent, 'module');
  const failing = fillOnce(folder, async (temporary) => {
    writeFileSync(join(temporary, 'half'), '');
    throw new Error('no compiler');
  });
  await assert.rejects(failing, /no compiler/);
  assert.deepEqual(readdirSync(parent), []);
  await fillOnce(folder, async (temporary) => writeFileSync(join(temporary, 'binary'), ''));
  assert.deepEqual(readdirSync(parent), ['module']);
});

test('of two concurrent fills the first to finish wins, and the other is discarded', async (t) => {
  const parent = temporaryFolder(t);
  const folder = join(parent, 'module');
  const slow = Promise.withResolvers<void>();
  const loser = fillOnce(folder, async (temporary) => {
    await slow.promise;
    writeFileSync(join(temporary, 'binary'), 'loser');
  });
  await fillOnce(folder, async (temporary) => writeFileSync(join(temporary, 'binary'), 'winner'));
  slow.resolve();
  await loser;
  assert.deepEqual(readdirSync(parent), ['module']);
  assert.equal(readFileSync(join(folder, 'binary'), 'utf8'), 'winner');
});

test('old leftovers of a killed process are removed, and recent ones kept', async (t) => {
  const parent = temporaryFolder(t);
  const [old, young] = [join(parent, 'module.a.partial'), join(parent, 'module.b.partial')];
  for (const folder of [old, young]) mkdirSync(folder);
  utimesSync(old, 0, 0);
  await fillOnce(join(parent, 'module'), async (temporary) => writeFileSync(join(temporary, 'binary'), ''));
  assert.deepEqual(readdirSync(parent).sort(), ['module', 'module.b.partial']);
});
