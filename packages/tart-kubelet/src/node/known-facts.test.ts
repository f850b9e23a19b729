import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { recordedLog } from '../identity/testing/recorded-log.ts';
import { settle } from '../identity/testing/until.ts';
import type { HostFacts } from './host-facts.ts';
import { createKnownFacts } from './known-facts.ts';
import { exampleFacts, playedHost } from './testing/example.ts';

const forever = new AbortController().signal;

describe('what is known of the Mac', () => {
  test('all facts are asked for at once', async () => {
    const known = createKnownFacts(playedHost(exampleFacts), manualClock(), recordedLog().log);
    assert.deepEqual(await known.look(forever), exampleFacts);
  });

  test('one that hangs costs its own freshness and nothing else, and is asked once', async () => {
    const clock = manualClock();
    let asked = 0;
    const answer = Promise.withResolvers<readonly []>();
    const images: HostFacts['images'] = () => {
      asked += 1;
      return answer.promise;
    };
    const known = createKnownFacts({ ...playedHost(exampleFacts), images }, clock, recordedLog().log);
    for (let look = 0; look < 3; look += 1) {
      const looking = known.look(forever);
      await settle();
      clock.advance(2_000);
      const { images: _, ...others } = exampleFacts;
      assert.deepEqual(await looking, others);
    }
    assert.equal(asked, 1);
    answer.resolve([]);
    await settle();
    assert.deepEqual((await known.look(forever)).images, []);
    assert.equal(asked, 2);
  });

  test('one that fails leaves what was known, and is complained about once', async () => {
    const facts: { -readonly [Name in keyof typeof exampleFacts]?: (typeof exampleFacts)[Name] } = { ...exampleFacts };
    const { log, lines } = recordedLog();
    const known = createKnownFacts(playedHost(facts), manualClock(), log);
    await known.look(forever);
    delete facts.labels;
    for (let look = 0; look < 3; look += 1) assert.deepEqual(await known.look(forever), exampleFacts);
    assert.equal(lines.filter((line) => line.includes('cannot be had')).length, 1);
    facts.labels = {};
    assert.deepEqual((await known.look(forever)).labels, {});
    assert.equal(lines.filter((line) => line.includes('known again')).length, 1);
  });

  test('one that takes too long is told to give up', async () => {
    const clock = manualClock();
    let told: AbortSignal | undefined;
    const disk: HostFacts['disk'] = (signal) => {
      told = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))));
    };
    const known = createKnownFacts({ ...playedHost(exampleFacts), disk }, clock, recordedLog().log);
    const looking = known.look(forever);
    clock.advance(2_000);
    assert.equal((await looking).disk, undefined);
    assert.equal(told?.aborted, false);
    clock.advance(28_000);
    assert.equal(told?.aborted, true);
    await settle();
  });
});
