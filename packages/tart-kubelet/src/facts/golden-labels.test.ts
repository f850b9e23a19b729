import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenLabelOf } from '@tartan/api';
import { goldenName } from '../images/golden-name.ts';
import { goldenLabels } from './image-facts.ts';

test('the label of a Node that holds a base is the one that others ask for by its image', () => {
  const image = { repository: 'ghcr.io/example/macos', digest: `sha256:${'b'.repeat(64)}` };
  const asked = goldenLabelOf(`${image.repository}:26@${image.digest}`) ?? '';
  assert.deepEqual(goldenLabels([{ name: goldenName(image), image: undefined, sizeBytes: 1 }]), { [asked]: 'true' });
});
