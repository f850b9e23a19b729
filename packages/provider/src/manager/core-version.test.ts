import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger, KubeError } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { findCoreVersion } from './core-version.ts';
import { flushPending } from './testing/harness.ts';

/** The server's successive responses for each version; the last one stays. */
type Answers = readonly (readonly string[] | KubeError)[];

const setUp = (answers: Answers) => {
  const clock = manualClock();
  const problems: string[] = [];
  const stopping = new AbortController();
  const left = [...answers];
  const client = {
    list: async ({ version }: { version: string }): Promise<never> => {
      const answer = left[0] ?? [];
      const isLastQuestion = answer instanceof KubeError || answer.includes(version) || version === 'v1beta1';
      if (isLastQuestion && left.length > 1) left.shift();
      if (answer instanceof KubeError) throw answer;
      if (!answer.includes(version)) throw new KubeError('notFound', 'the server could not find it');
      return { items: [], resourceVersion: '1' } as never;
    },
  };
  const finding = findCoreVersion(
    {
      client,
      clock,
      log: createLogger({ write: () => {}, clock, level: 'error' }),
      deadlineMs: 20_000,
      retryMs: 5_000,
      onProblem: (problem) => problems.push(problem),
    },
    stopping.signal,
  );
  return { clock, problems, stopping, finding };
};

describe('the API version of Cluster API core', () => {
  const rows: readonly [what: string, served: readonly string[], version: string][] = [
    ['the newer one when both are served', ['v1beta1', 'v1beta2'], 'v1beta2'],
    ['the newer one alone', ['v1beta2'], 'v1beta2'],
    ['the older one where there is no other', ['v1beta1'], 'v1beta1'],
  ];
  for (const [what, served, version] of rows)
    test(what, async () => assert.deepEqual(await setUp([served]).finding, version));

  test('is found when core is installed later', async () => {
    const { clock, problems, finding } = setUp([[], [], ['v1beta2']]);
    for (let look = 0; look < 2; look += 1) {
      await flushPending();
      clock.advance(5_000);
    }
    assert.deepEqual(await finding, 'v1beta2');
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? '', /Install Cluster API core/);
  });

  test('is requested again from an unreachable server, which does not count as one without core', async () => {
    const away = new KubeError('unreachable', 'no route to the API server');
    const { clock, problems, finding } = setUp([away, ['v1beta2']]);
    await flushPending();
    assert.match(problems[0] ?? '', /no route/);
    assert.doesNotMatch(problems[0] ?? '', /Install/);
    clock.advance(5_000);
    assert.deepEqual(await finding, 'v1beta2');
  });

  test('is an error after the deadline', async () => {
    const { clock, finding } = setUp([[]]);
    for (let look = 0; look < 5; look += 1) {
      await flushPending();
      clock.advance(5_000);
    }
    const found = await finding;
    assert.ok(typeof found !== 'string' && !found.ok && found.reason.includes('Install Cluster API core'));
  });

  test('is not awaited after a stop', async () => {
    const { stopping, finding } = setUp([[]]);
    await flushPending();
    stopping.abort();
    assert.deepEqual(await finding, { ok: true });
  });
});
