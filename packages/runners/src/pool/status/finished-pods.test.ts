import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FinishedPod, maxFinished, recordFinished } from './finished-pods.ts';

const pod = (uid: string, second = 0): FinishedPod => ({
  name: `runner-${uid}`,
  uid,
  finishedAt: new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString(),
});
const uids = (pods: readonly FinishedPod[]): string[] => pods.map(({ uid }) => uid);
const none = { observedGeneration: 1 };

describe('finished Pods', () => {
  it('are recorded, the latest first', () => {
    const { finished, reaped } = recordFinished(undefined, [pod('a', 1), pod('b', 3), pod('c', 2)]);
    assert.deepEqual([uids(finished), reaped], [['b', 'c', 'a'], 3]);
  });

  it('are counted once, also after a crash before their deletion', () => {
    const first = recordFinished({ ...none, reaped: 5 }, [pod('a'), pod('b')]);
    assert.equal(first.reaped, 7);
    const again = recordFinished({ ...none, ...first }, [pod('b'), pod('c'), pod('c')]);
    assert.deepEqual([uids(again.finished), again.reaped], [['c', 'a', 'b'], 8]);
  });

  it('replace the oldest entries, never each other', () => {
    const full = Array.from({ length: maxFinished }, (_, index) => pod(`old ${index}`, 50));
    const { finished, reaped } = recordFinished({ ...none, finished: full, reaped: 50 }, [pod('late', 1)]);
    assert.equal(finished.length, maxFinished);
    assert.equal(finished[0]?.uid, 'late');
    assert.equal(reaped, 51);
    assert.equal(recordFinished({ ...none, finished, reaped }, [pod('late', 1)]).reaped, 51);
  });

  it('are recorded also without an end time', () => {
    const { finished } = recordFinished(undefined, [{ name: 'x', uid: 'x' }, pod('a')]);
    assert.deepEqual(uids(finished), ['a', 'x']);
  });
});
