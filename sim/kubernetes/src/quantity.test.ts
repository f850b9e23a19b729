import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addQuantities, canonicalQuantity, canonicalResourceQuantity, compareQuantities, isWhole } from './quantity.ts';

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
    it(`writes ${JSON.stringify(text)} as ${expected}`, () => assert.equal(canonicalQuantity(text), expected));
  }

  it('keep amounts of resources to a thousandth, rounded up', () => {
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

  it('know what is whole', () => {
    assert.equal(isWhole('1500m'), false);
    assert.equal(isWhole('2000m'), true);
  });

  it('have one spelling, which reads back as the same amount', () => {
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
