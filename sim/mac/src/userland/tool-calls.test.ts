import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { startTestMac } from '../testing/test-mac.ts';
import { maxConcurrentCalls } from './tool-stubs.ts';

describe('a call of a tool', () => {
  test('passes arguments and results of any length and content', async (t) => {
    const mac = await startTestMac(t);
    const name = `it's "a" \\ $HOME \n ${'x'.repeat(20_000)}`;
    const quoted = `'${name.replaceAll("'", "'\\''")}'`;
    const { stdout } = await mac.run(`echo ${quoted} >/dev/null; stat -f ${quoted} f; date +${quoted}`);
    assert.equal(stdout, `${name}\n`);
  });

  test('returns each of many concurrent callers its own result', async (t) => {
    const mac = await startTestMac(t);
    const each = `for n in 1 2 3 4 5; do [ "$(date -r $i$n +%s)" = $i$n ] || echo wrong $i$n; done`;
    const { code, stdout } = await mac.run(
      `for i in $(seq 1 ${maxConcurrentCalls + 6}); do (${each}) & done; wait; echo done`,
    );
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'done\n' });
  });

  test('waits for a free slot, also if no other call follows', async (t) => {
    const clock = manualClock();
    const allSleep = Promise.withResolvers<void>();
    let sleeping = 0;
    const after: typeof clock.after = (milliseconds, run) => {
      if (milliseconds === 1_000_000) sleeping += 1;
      if (sleeping === maxConcurrentCalls) allSleep.resolve();
      return clock.after(milliseconds, run);
    };
    const mac = await startTestMac(t, { pace: 1, clock: { ...clock, after } });
    const finish = join(mac.path('/tmp'), 'finish');
    const held = mac.run(`for i in $(seq 1 ${maxConcurrentCalls}); do sleep 1000 & done; wait; echo held`);
    await allSleep.promise;
    const waiting = mac.run(`date -r 7 +%s; true >${finish}`);
    // Slots of dead callers are freed without another call than the waiting one.
    while (!existsSync(finish)) {
      clock.advance(1_000_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await waiting).stdout, '7\n');
    assert.equal((await held).stdout, 'held\n');
  });

  test('frees its slot if the caller dies before the result', async (t) => {
    const mac = await startTestMac(t, { clock: manualClock() });
    const killed =
      'sleep 1000 & p=$!; until ls "$TARTAN_ROOT"/../.mac/calls/*.call >/dev/null 2>&1; do :; done; date >/dev/null; kill $p; wait $p';
    for (let time = 0; time < maxConcurrentCalls + 2; time += 1) await mac.run(killed);
    assert.equal((await mac.run('date -r 5 +%s')).stdout, '5\n');
  });

  test('ends when the Mac stops', async (t) => {
    const mac = await startTestMac(t, { clock: manualClock() });
    const running = mac.run('sleep 1000; echo survived >f');
    await mac.stop();
    assert.deepEqual(await running, { code: null, signal: 'SIGKILL', stdout: '', stderr: '' });
  });
});
