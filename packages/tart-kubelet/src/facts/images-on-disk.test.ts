import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenLabelOf } from '@tartan/api';
import { goldenName } from '../images/image-reference.ts';
import { goldenLabels } from './images-on-disk.ts';

test('the label of a golden base matches the label computed from the image', () => {
  const image = { repository: 'ghcr.io/example/macos', digest: `sha256:${'b'.repeat(64)}` };
  const asked = goldenLabelOf(`${image.repository}:26@${image.digest}`) ?? '';
  assert.deepEqual(goldenLabels([{ name: goldenName(image), image: undefined, sizeBytes: 1 }]), { [asked]: 'true' });
});
