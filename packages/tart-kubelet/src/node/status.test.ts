import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatKiB } from './status.ts';

test('formats quantities in the canonical form of the API server', () => {
  const table: readonly [number, string][] = [
    [0, '0'],
    [1, '1Ki'],
    [1023.9, '1023Ki'],
    [1024, '1Mi'],
    [14_336 * 1024, '14Gi'],
    [14_337 * 1024, '14337Mi'],
    [482_797_652, '482797652Ki'],
  ];
  for (const [kibibytes, text] of table) assert.equal(formatKiB(kibibytes), text);
});
