import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKnownPods } from './known-pods.ts';
import { examplePod } from './testing/example.ts';

const version = (resourceVersion: string) => examplePod((pod) => void (pod.metadata.resourceVersion = resourceVersion));

describe('the Pods of this Mac, as new as anybody has told', () => {
  it('a watch that is behind brings nothing back that a write of ours has changed (INC-29)', () => {
    const known = createKnownPods();
    assert.equal(known.told(version('9')), true);
    assert.equal(known.told(version('10')), true, 'by number and not by letters');
    assert.equal(known.told(version('9')), false);
    assert.equal(known.told(version('10')), false, 'the same again is no news');
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '10');
  });

  it('a GET counts, also from a server that was put back to an older state', () => {
    const known = createKnownPods();
    known.told(version('10'));
    known.read(version('3'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '3');
  });

  it('knows it no more once it is gone', () => {
    const known = createKnownPods();
    known.told(version('10'));
    known.gone('uid-1');
    assert.deepEqual([known.get('uid-1'), known.all()], [undefined, []]);
    assert.equal(known.told(version('2')), true);
  });
});
