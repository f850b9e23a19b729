import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createLogger } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { ScalewayError, type ScalewayErrorKind } from '@tartan/scaleway';
import { createScalewayPermissionCheck } from './scaleway-permissions.ts';
import { flushPending, quietPool } from './testing/harness.ts';

const errorOf = (kind: ScalewayErrorKind) => new ScalewayError(`It is ${kind}.`, { kind });

const setUp = (t: TestContext) => {
  const clock = manualClock();
  const lines: string[] = [];
  let error: ScalewayError | undefined;
  let asked = 0;
  const pool = {
    ...quietPool(),
    listServers: async () => {
      asked += 1;
      return error ? Promise.reject(error) : [];
    },
  };
  const log = createLogger({ write: (line) => lines.push(line), clock, level: 'info' });
  const rights = createScalewayPermissionCheck({
    pool,
    zones: ['fr-par-1'],
    clock,
    log,
    retryMs: 60_000,
    againMs: 600_000,
  });
  const stopping = new AbortController();
  t.after(() => stopping.abort());
  return {
    rights,
    lines,
    asked: () => asked,
    start: async (kind?: ScalewayErrorKind) => {
      error = kind && errorOf(kind);
      void rights.run(stopping.signal);
      await flushPending();
    },
    later: async (milliseconds: number, kind?: ScalewayErrorKind) => {
      error = kind && errorOf(kind);
      clock.advance(milliseconds);
      await flushPending();
    },
  };
};

describe('the permission check at Scaleway', () => {
  test('fails before the first answer', (t) => {
    assert.match(setUp(t).rights.check() ?? '', /not answered yet/);
  });

  test('succeeds, and logs it once', async (t) => {
    const { rights, start, lines, later } = setUp(t);
    await start();
    assert.equal(rights.check(), undefined);
    await later(600_000);
    assert.equal(lines.length, 1, 'all is well is said once');
  });

  for (const kind of ['denied', 'unauthorized', 'invalid', 'not found'] as const)
    test(`${kind}: fails, and is repeated soon`, async (t) => {
      const { rights, start, later, lines } = setUp(t);
      await start(kind);
      assert.equal(rights.check(), `It is ${kind}.`);
      assert.match(lines[0] ?? '', new RegExp(`It is ${kind}\\.`));
      await later(60_000);
      assert.equal(rights.check(), undefined);
      assert.match(lines[1] ?? '', /can read all that is needed/);
    });

  for (const kind of ['unavailable', 'no answer', 'rate limited', 'garbled'] as const)
    test(`${kind}: keeps the last result`, async (t) => {
      const { rights, start, later } = setUp(t);
      await start();
      await later(600_000, kind);
      assert.equal(rights.check(), undefined);
      await later(60_000, 'denied');
      assert.equal(rights.check(), 'It is denied.');
      await later(60_000, kind);
      assert.equal(rights.check(), 'It is denied.');
    });

  test('fails until the first readable answer', async (t) => {
    const { rights, start, later, asked } = setUp(t);
    await start('no answer');
    assert.match(rights.check() ?? '', /does not answer: It is no answer\./);
    await later(60_000, 'unavailable');
    assert.notEqual(rights.check(), undefined);
    await later(60_000);
    assert.equal(rights.check(), undefined);
    assert.equal(asked(), 3);
  });
});
