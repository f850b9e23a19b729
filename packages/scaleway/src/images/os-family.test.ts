import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isVersionedPin, matchesFamily, osFamilyKey } from './os-family.ts';

test('a family has one key, however it is written', () => {
  const table: [os: string, key: string][] = [
    ['macos-tahoe-26.3', 'tahoe'],
    ['Tahoe', 'tahoe'],
    [' tahoe ', 'tahoe'],
    ['TAHOE', 'tahoe'],
    ['macos-golden-gate-27.0', 'goldengate'],
    ['Golden Gate', 'goldengate'],
    ['golden_gate', 'goldengate'],
    ['macos-tahoe-26.3-beta', 'tahoe'],
    ['devos-tahoe-26.3', 'devostahoe'],
    ['macos-', ''],
    ['', ''],
    ['  ', ''],
    ['macos-26.3', '26.3'],
  ];
  for (const [os, key] of table) assert.equal(osFamilyKey(os), key, os);
});

test('an image is of a family by its family or by its name', () => {
  const tahoe = { name: 'macos-tahoe-26.3', family: 'Tahoe' };
  const table: [os: { name: string; family: string } | undefined, pin: string, matches: boolean][] = [
    [tahoe, 'tahoe', true],
    [tahoe, 'Tahoe', true],
    [tahoe, 'macos-tahoe-26.0', true],
    [{ name: 'macos-tahoe-26.3', family: '' }, 'tahoe', true],
    [{ name: 'image 17', family: 'Tahoe' }, 'tahoe', true],
    [{ name: 'devos-tahoe-26.3', family: 'DevOS Tahoe' }, 'tahoe', false],
    [tahoe, 'sequoia', false],
    [tahoe, 'tah', false],
    [tahoe, '', false],
    [tahoe, 'macos-', false],
    [{ name: '', family: '' }, '', false],
    [undefined, 'tahoe', false],
    [undefined, '', false],
  ];
  for (const [os, pin, matches] of table) assert.equal(matchesFamily(os, pin), matches, `${os?.name} ${pin}`);
});

test('a pin with a digit is a version', () => {
  const table: [pin: string, versioned: boolean][] = [
    ['tahoe', false],
    ['Golden Gate', false],
    ['macos-tahoe-26.3', true],
    ['26', true],
    ['', false],
  ];
  for (const [pin, versioned] of table) assert.equal(isVersionedPin(pin), versioned, pin);
});

test('a key is the key of itself', () => {
  fc.assert(
    fc.property(fc.string(), (os) => {
      const key = osFamilyKey(os);
      assert.equal(osFamilyKey(key), key);
    }),
  );
});
