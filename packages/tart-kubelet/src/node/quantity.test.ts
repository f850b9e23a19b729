import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantityOfKiB } from './quantity.ts';

test('a quantity is written as the API server writes it back', () => {
  const table: readonly [number, string][] = [
    [0, '0'],
    [1, '1Ki'],
    [1023.9, '1023Ki'],
    [1024, '1Mi'],
    [14_336 * 1024, '14Gi'],
    [14_337 * 1024, '14337Mi'],
    [482_797_652, '482797652Ki'],
  ];
  for (const [kibibytes, text] of table) assert.equal(quantityOfKiB(kibibytes), text);
});
