import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRecordingLogger } from '../identity/testing/recording-logger.ts';
import { flushEventLoop } from '../identity/testing/flush-event-loop.ts';
import { exampleFacts, fakeHostFacts } from '../node/testing/fixtures.ts';
import { createFactsCache, type HostFacts } from './host-facts.ts';

const forever = new AbortController().signal;

describe('the cache of host facts', () => {
  test('reads all facts concurrently', async () => {
    const known = createFactsCache(fakeHostFacts(exampleFacts), manualClock(), createRecordingLogger().log);
    assert.deepEqual(await known.refresh(forever), exampleFacts);
  });

  test('a fact that hangs stays stale alone, and is read once', async () => {
    const clock = manualClock();
    let asked = 0;
    const answer = Promise.withResolvers<readonly []>();
    const images: HostFacts['images'] = () => {
      asked += 1;
      return answer.promise;
    };
    const known = createFactsCache({ ...fakeHostFacts(exampleFacts), images }, clock, createRecordingLogger().log);
    for (let count = 0; count < 3; count += 1) {
      const looking = known.refresh(forever);
      await flushEventLoop();
      clock.advance(2_000);
      const { images: _, ...others } = exampleFacts;
      assert.deepEqual(await looking, others);
    }
    assert.equal(asked, 1);
    answer.resolve([]);
    await flushEventLoop();
    assert.deepEqual((await known.refresh(forever)).images, []);
    assert.equal(asked, 2);
  });

  test('a fact that fails keeps its last value, and is logged once', async () => {
    const facts: { -readonly [Name in keyof typeof exampleFacts]?: (typeof exampleFacts)[Name] } = { ...exampleFacts };
    const { log, lines } = createRecordingLogger();
    const known = createFactsCache(fakeHostFacts(facts), manualClock(), log);
    await known.refresh(forever);
    delete facts.labels;
    for (let count = 0; count < 3; count += 1) assert.deepEqual(await known.refresh(forever), exampleFacts);
    assert.equal(lines.filter((line) => line.includes('cannot be had')).length, 1);
    facts.labels = {};
    assert.deepEqual((await known.refresh(forever)).labels, {});
    assert.equal(lines.filter((line) => line.includes('known again')).length, 1);
  });

  test('a fact that takes too long is aborted', async () => {
    const clock = manualClock();
    let passedSignal: AbortSignal | undefined;
    const disk: HostFacts['disk'] = (signal) => {
      passedSignal = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))));
    };
    const known = createFactsCache({ ...fakeHostFacts(exampleFacts), disk }, clock, createRecordingLogger().log);
    const looking = known.refresh(forever);
    clock.advance(2_000);
    assert.equal((await looking).disk, undefined);
    assert.equal(passedSignal?.aborted, false);
    clock.advance(28_000);
    assert.equal(passedSignal?.aborted, true);
    await flushEventLoop();
  });
});
