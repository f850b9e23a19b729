import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createProcessUsage, parseUsage } from './process-usage.ts';
import { isTartError } from './tart-error.ts';

describe('what processes use', () => {
  test('is read as ps of Linux and of macOS write it', () => {
    const text = ['   7 00:00:03  1024', '8 1-02:03:04 1', '  9 123:45.67 2048', 'nonsense', '10 - 5', ''].join('\n');
    assert.deepEqual(
      [...parseUsage(text)],
      [
        [7, { cpuSeconds: 3, memoryBytes: 1_048_576 }],
        [8, { cpuSeconds: 93_784, memoryBytes: 1024 }],
        [9, { cpuSeconds: 7425.67, memoryBytes: 2_097_152 }],
      ],
    );
    fc.assert(fc.property(fc.string(), (any) => parseUsage(any) instanceof Map));
  });

  test('is known of those that are there, and of no other', async () => {
    const read = createProcessUsage(process.env);
    const gone = 2 ** 22 - 1;
    const found = await read([process.pid, gone]);
    assert.deepEqual([...found.keys()], [process.pid]);
    assert.ok((found.get(process.pid)?.memoryBytes ?? 0) > 1_000_000);
    assert.equal((await read([])).size, 0);
    assert.equal((await read([gone])).size, 0);
  });

  test('that cannot be asked for is an error, not nothing', async () => {
    await assert.rejects(createProcessUsage({ PATH: '/nowhere' })([1]), (error) => isTartError(error, 'unreadable'));
  });
});
