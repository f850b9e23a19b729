import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  canonicalResourceQuantity,
  compareQuantities,
  isWhole,
  readQuantity,
} from './quantity.ts';

describe('quantities', () => {
  const spellings: [string | number, string | undefined][] = [
    ['0', '0'],
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000m', '1'],
    ['1000', '1k'],
    ['1073741824', '1073741824'],
    [1073741824, '1073741824'],
    [1.5, '1500m'],
    ['1e3', '1e3'],
    ['12E6', '12E6'],
    ['1e40', '10e39'],
    ['1E', '1E'],
    ['1023Ki', '1023Ki'],
    ['0.5Ki', '512'],
    ['0.1Mi', '104857600m'],
    ['+1', '+1'],
    ['1.500', '1.500'],
    ['0.500', '500m'],
    ['-1', '-1'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['100.5m', '100500u'],
    ['0.0000000001', '1n'],
    ['1Zi', undefined],
    ['abc', undefined],
    ['', undefined],
    ['.', undefined],
    ['1 Gi', undefined],
  ];
  for (const [text, expected] of spellings) {
    it(`formats ${JSON.stringify(text)} as ${expected}`, () => assert.equal(canonicalQuantity(text), expected));
  }

  it('round amounts of resources up to a thousandth', () => {
    assert.equal(canonicalResourceQuantity('100.5m'), '101m');
    assert.equal(canonicalResourceQuantity('-100.5m'), '-101m');
    assert.equal(canonicalResourceQuantity('1Gi'), '1Gi');
  });

  it('compare by amount, not by spelling', () => {
    assert.equal(compareQuantities('1Gi', '1024Mi'), 0);
    assert.equal(compareQuantities('999m', '1'), -1);
    assert.equal(compareQuantities('2', '1900m'), 1);
  });

  it('add up in the format of the first', () => {
    assert.equal(addQuantities('1Gi', '512Mi'), '1536Mi');
    assert.equal(addQuantities('0', '1Gi'), '1Gi');
    assert.equal(addQuantities('500m', '1'), '1500m');
  });

  it('know integers', () => {
    assert.equal(isWhole('1500m'), false);
    assert.equal(isWhole('2000m'), true);
  });

  it('have one canonical form, which parses to the same amount', () => {
    const suffixes = ['', 'm', 'u', 'n', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'E-3'];
    fc.assert(
      fc.property(fc.integer({ min: -100000, max: 100000 }), fc.constantFrom(...suffixes), (number, suffix) => {
        const text = `${number}${suffix}`;
        const spelled = canonicalQuantity(text) ?? '';
        assert.equal(canonicalQuantity(spelled), spelled);
        assert.equal(compareQuantities(spelled, text), 0);
      }),
    );
  });
});

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
  test(`the quantity ${JSON.stringify(value)} is parsed or refused`, () =>
    assert.equal(parseQuantity(value), expected));
}

test('integers of any size are exact, and so are thousandths of them', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (value) => {
      assert.equal(parseQuantity(String(value)), value * billion);
      assert.equal(parseQuantity(`${value}m`), value * (billion / 1000n));
      assert.equal(parseQuantity(`${value}Mi`), parseQuantity(String(value * 2n ** 20n)));
    }),
  );
});
