import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Image } from './host-pool.ts';
import { compareVersions, isVersionedPin, matchesFamily, newestImage, osFamilyKey } from './images.ts';

test('a family has one key, however it is spelled', () => {
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

test('an image belongs to a family by its family field or by its name', () => {
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

test('normalizing a key is idempotent', () => {
  fc.assert(
    fc.property(fc.string(), (os) => {
      const key = osFamilyKey(os);
      assert.equal(osFamilyKey(key), key);
    }),
  );
});

const image = (version: string, more: Partial<Image> = {}): Image => ({
  id: version,
  name: `macos-tahoe-${version}`,
  family: 'Tahoe',
  version,
  isBeta: false,
  ...more,
});

test('versions are compared as numbers, and a suffix comes before the release', () => {
  const rising = [
    '',
    '25',
    '26',
    '26.0',
    '26.3-beta',
    '26.3',
    '26.7-beta2',
    '26.7-beta10',
    '26.7',
    '26.7.1',
    '26.10',
    '27',
  ];
  for (const [at, version] of rising.entries()) {
    assert.equal(compareVersions(version, version), 0);
    for (const later of rising.slice(at + 1)) {
      assert.equal(compareVersions(version, later), -1, `${version} < ${later}`);
      assert.equal(compareVersions(later, version), 1, `${later} > ${version}`);
    }
  }
});

test('the newest image of the family is chosen', () => {
  const table: [what: string, images: Image[], family: string, expected: string | undefined][] = [
    ['by number, not by letter', [image('26.9'), image('26.10'), image('26.2')], 'tahoe', '26.10'],
    ['a beta is left', [image('26.3'), image('26.4', { isBeta: true })], 'tahoe', '26.3'],
    [
      'unless there is nothing else',
      [image('26.3', { isBeta: true }), image('26.4', { isBeta: true })],
      'tahoe',
      '26.4',
    ],
    ['other families are left', [image('26.3'), image('27', { name: 'macos-x-27', family: 'X' })], 'tahoe', '26.3'],
    [
      'also those that sound alike',
      [image('27', { name: 'devos-tahoe-27', family: 'DevOS Tahoe' })],
      'tahoe',
      undefined,
    ],
    ['an old pin is taken for its family', [image('26.3')], 'macos-tahoe-26.0', '26.3'],
    ['no family is no image', [image('26.3')], '', undefined],
    ['an empty catalogue has none', [], 'tahoe', undefined],
  ];
  for (const [what, images, family, expected] of table) {
    assert.equal(newestImage(images, family)?.id, expected, what);
    assert.equal(newestImage(images.toReversed(), family)?.id, expected, `${what}, the other way round`);
  }
});

test('the order of the catalogue does not matter', () => {
  const versions = fc.array(fc.stringMatching(/^\d{1,2}(\.\d{1,2}){0,2}(-beta\d?)?$/), { minLength: 1 });
  fc.assert(
    fc.property(versions, fc.infiniteStream(fc.boolean()), (all, beta) => {
      const images = all.map((version, at) => image(version, { id: `${at}`, isBeta: beta.next().value }));
      const newest = newestImage(images, 'tahoe');
      assert.equal(newestImage(images.toReversed(), 'tahoe'), newest);
      for (const other of images.filter((one) => one.isBeta === newest?.isBeta)) {
        assert(compareVersions(other.version, newest?.version ?? '') <= 0);
      }
    }),
  );
});
