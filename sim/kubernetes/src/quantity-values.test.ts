import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readQuantity } from './quantity.ts';

const parseQuantity = (value: string | number): bigint | undefined => readQuantity(String(value))?.nanos;

const billion = 1_000_000_000n;

const table: [string | number, bigint | undefined][] = [
  ['0', 0n],
  ['1', billion],
  [2, 2n * billion],
  [0.5, billion / 2n],
  ['+1', billion],
  ['-1', -billion],
  ['100m', billion / 10n],
  ['1.5', (billion * 3n) / 2n],
  ['.5', billion / 2n],
  ['1.', billion],
  ['1n', 1n],
  ['1u', 1000n],
  ['0.1n', 1n],
  ['-0.1n', -1n],
  ['1k', 1000n * billion],
  ['1M', 1_000_000n * billion],
  ['1G', 1_000_000_000n * billion],
  ['1T', 10n ** 12n * billion],
  ['1P', 10n ** 15n * billion],
  ['1E', 10n ** 18n * billion],
  ['1Ki', 1024n * billion],
  ['1.5Gi', 3n * 2n ** 29n * billion],
  ['16Gi', 2n ** 34n * billion],
  ['1Ei', 2n ** 60n * billion],
  ['1e3', 1000n * billion],
  ['1E3', 1000n * billion],
  ['12E-1', 1_200_000_000n],
  ['1e+2', 100n * billion],
  ['9007199254740993', 9_007_199_254_740_993n * billion],
  ['', undefined],
  ['.', undefined],
  ['m', undefined],
  ['1 ', undefined],
  ['1K', undefined],
  ['1ki', undefined],
  ['1mi', undefined],
  ['1e', undefined],
  ['1e1000000000', undefined],
  ['1e-1000000000', undefined],
  ['0x10', undefined],
  ['NaN', undefined],
  ['1,5', undefined],
  ['--1', undefined],
];

for (const [value, expected] of table) {
  test(`the quantity ${JSON.stringify(value)}`, () => assert.equal(parseQuantity(value), expected));
}

test('whole numbers of any size are exact, and so are thousandths of them', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (value) => {
      assert.equal(parseQuantity(String(value)), value * billion);
      assert.equal(parseQuantity(`${value}m`), value * (billion / 1000n));
      assert.equal(parseQuantity(`${value}Mi`), parseQuantity(String(value * 2n ** 20n)));
    }),
  );
});
