import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenLabelOf } from './golden-label.ts';

const digest = `sha256:${'a'.repeat(64)}`;

/** By hand: `printf %s ghcr.io/example/macos@sha256:aa… | shasum -a 256`. */
const label = 'tuist.dev/golden-d01fd11aeb7509fe';

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ['an image by its digest', `ghcr.io/example/macos@${digest}`, label],
  ['a tag beside the digest, which says nothing more', `ghcr.io/example/macos:26@${digest}`, label],
  ['a tag alone, of which only the Macs know the content', 'ghcr.io/example/macos:26', undefined],
  ['neither', 'ghcr.io/example/macos', undefined],
  ['an invalid digest', 'ghcr.io/example/macos@sha256:abc', undefined],
  ['nothing', '', undefined],
];
for (const [what, image, expected] of cases)
  test(`the label of Macs with a golden base of an image: ${what}`, () => assert.equal(goldenLabelOf(image), expected));

test('the port of a registry is not a tag', () => {
  const one = goldenLabelOf(`registry.local:5000/macos@${digest}`);
  assert.equal(goldenLabelOf(`registry.local:5000/macos:26@${digest}`), one);
  assert.notEqual(goldenLabelOf(`registry.local/macos@${digest}`), one);
});
