import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, manualClock, sleep } from '../clock/index.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import type { KubeObject } from '../objects/object.ts';
import type { LeaderElector } from './leader-runnables.ts';
import { createManager, type ManagerOptions, type ManagerResult } from './manager.ts';
import type { Runnable } from './runnable.ts';
import { fakeInformer } from './testing/fake-informer.ts';
import { settle } from '../clock/testing/real-time.ts';

/** Records its start and stop; `deaf` ignores its signal. */
const part = (name: string, calls: string[], stopping: 'good' | 'deaf' = 'good') => {
  const crash = Promise.withResolvers<void>();
  const runnable: Runnable = {
    name,
    run: async (signal) => {
      calls.push(`+${name}`);
      await Promise.race([stopping === 'deaf' ? new Promise(() => {}) : untilAborted(signal), crash.promise]);
      calls.push(`-${name}`);
    },
  };
  return { ...runnable, crash: (error: Error) => crash.reject(error), end: () => crash.resolve() };
};

/** Takes half a second to stop. */
const slow = (name: string, calls: string[], clock: Clock): Runnable => ({
  name,
  run: async (signal) => {
    calls.push(`+${name}`);
    await untilAborted(signal);
    await sleep(clock, 500, new AbortController().signal);
    calls.push(`-${name}`);
  },
});

/** Starts and ends leadership on demand. */
const fakeElection = () => {
  const calls: string[] = [];
  let elect: () => void = () => assert.fail('no election');
  let depose: () => void = () => assert.fail('nobody leads');
  let breakDown: (error: Error) => void = () => assert.fail('no election');
  const election: LeaderElector = {
    run: async (signal, lead) => {
      const broken = Promise.withResolvers<never>();
      breakDown = broken.reject;
      const hold = async (): Promise<void> => {
        while (!signal.aborted) {
          const elected = Promise.withResolvers<void>();
          elect = elected.resolve;
          await Promise.race([elected.promise, untilAborted(signal)]);
          if (signal.aborted) break;
          const leading = new AbortController();
          depose = () => leading.abort();
          signal.addEventListener('abort', depose);
          await lead(leading.signal);
          calls.push(signal.aborted ? 'released' : 'ended');
        }
      };
      await Promise.race([hold(), broken.promise]);
    },
  };
  return {
    election,
    calls,
    elect: () => elect(),
    depose: () => depose(),
    breakDown: (error: Error) => breakDown(error),
  };
};

const setUp = (options: Partial<ManagerOptions> = {}) => {
  const clock = manualClock(0);
  const { log, lines } = recordedLog();
  const cache = fakeInformer<KubeObject>();
  const stop = new AbortController();
  const manager = createManager({ caches: { nodes: cache }, clock, log, ...options });
  let result: ManagerResult | undefined;
  return {
    clock,
    lines,
    cache,
    stop,
    manager,
    start: () => {
      void manager.run(stop.signal).then((answer) => {
        result = answer;
      });
      return settle();
    },
    result: () => result,
    advance: async (milliseconds: number) => {
      await settle();
      clock.advance(milliseconds);
      await settle();
    },
  };
};

const reasonIn = (result: ManagerResult | undefined): string => (result && !result.ok ? result.reason : 'none');

test('runnables start in order and stop in reverse order', async () => {
  const calls: string[] = [];
  const cache = {
    ...fakeInformer<KubeObject>(),
    run: part('cache', calls).run,
    synced: Promise.resolve(),
    hasSynced: true,
  };
  const { start, stop, result, manager } = setUp({
    caches: { nodes: cache },
    controllers: [part('controller', calls)],
    leaderOnly: [part('leader-only', calls)],
  });
  assert.deepEqual(calls, []);
  await start();
  assert.deepEqual(calls, ['+cache', '+controller', '+leader-only']);
  assert.equal(manager.state, 'working');
  stop.abort();
  await settle();
  assert.deepEqual(calls.slice(3), ['-controller', '-leader-only', '-cache']);
  assert.deepEqual(result(), { ok: true });
});

test('controllers wait for the caches, and readiness says which are missing and why', async () => {
  const calls: string[] = [];
  const readyz = new Map<string, () => string | undefined>();
  const { start, stop, cache, clock, lines } = setUp({ readyz, controllers: [part('controller', calls)] });
  await start();
  assert.deepEqual(calls, []);
  assert.equal(cache.running, true);
  assert.equal(readyz.get('manager')?.(), 'the manager is syncing');
  assert.match(readyz.get('caches')?.() ?? '', /nodes \(no answer to its first list yet\)/);
  cache.lastError = new Error('nodes is forbidden');
  clock.advance(10_000);
  await settle();
  assert.deepEqual(lines.find(({ level }) => level === 'warn')?.fields, { missing: ['nodes (nodes is forbidden)'] });
  cache.sync();
  await settle();
  assert.deepEqual(calls, ['+controller']);
  assert.equal(readyz.get('manager')?.(), undefined);
  assert.equal(readyz.get('caches')?.(), undefined);
  stop.abort();
  await settle();
  assert.equal(readyz.get('manager')?.(), 'the manager is ended');
});

test('caches that are not synced in time end the manager with their names and reasons', async () => {
  const calls: string[] = [];
  const { start, cache, advance, result, manager } = setUp({ controllers: [part('controller', calls)] });
  cache.lastError = new Error('connection refused');
  await start();
  for (let step = 0; step < 12; step += 1) await advance(10_000);
  assert.match(reasonIn(result()), /not synced after 120 s: nodes \(connection refused\)\. Check/);
  assert.equal(manager.state, 'ended');
  assert.deepEqual(calls, []);
  assert.equal(cache.running, false);
});

test('a stop while caches sync is a stop, not a failure', async () => {
  const { start, stop, result, cache } = setUp();
  await start();
  stop.abort();
  await settle();
  assert.deepEqual(result(), { ok: true });
  assert.equal(cache.running, false);
});

test('an aborted signal starts nothing', async () => {
  const calls: string[] = [];
  const caches = { nodes: { ...fakeInformer<KubeObject>(), run: part('cache', calls).run } };
  const { start, stop, result } = setUp({ caches, controllers: [part('controller', calls)] });
  stop.abort();
  await start();
  assert.deepEqual(result(), { ok: true });
  assert.deepEqual(calls, []);
});

test('a manager runs only once', async () => {
  const { start, manager, stop } = setUp();
  await start();
  assert.match(reasonIn(await manager.run(stop.signal)), /can be run once/);
  stop.abort();
  await settle();
});

for (const [what, act, reason] of [
  ['crashes', (it) => it.crash(new Error('boom')), /^shaky failed: boom$/],
  ['ends by itself', (it) => it.end(), /^shaky ended without having been stopped$/],
] as readonly [string, (it: ReturnType<typeof part>) => void, RegExp][])
  for (const place of ['controllers', 'leaderOnly'] as const)
    test(`a part of ${place} that ${what} ends the manager in order`, async () => {
      const calls: string[] = [];
      const shaky = part('shaky', calls);
      const other = part('other', calls);
      const { start, cache, result } = setUp({ controllers: [other], [place]: [other, shaky] });
      cache.sync();
      await start();
      act(shaky);
      await settle();
      assert.match(reasonIn(result()), reason);
      assert.ok(calls.includes('-other'));
      assert.equal(cache.running, false);
    });

test('runnables that do not stop in time are named, and the others are stopped', async () => {
  const calls: string[] = [];
  const { start, stop, cache, advance, result } = setUp({ controllers: [part('deaf one', calls, 'deaf')] });
  cache.sync();
  await start();
  stop.abort();
  await advance(24_999);
  assert.equal(result(), undefined);
  await advance(1);
  assert.match(reasonIn(result()), /not everything stopped in time: deaf one still runs/);
  assert.equal(cache.running, false);
});

test('after the stop deadline, caches still get a moment to close their connections', async () => {
  const calls: string[] = [];
  const clock = manualClock(0);
  const cache = {
    ...fakeInformer<KubeObject>(),
    synced: Promise.resolve(),
    hasSynced: true,
    run: slow('cache', calls, clock).run,
  };
  const { start, stop, result } = setUp({
    caches: { nodes: cache },
    controllers: [part('deaf one', calls, 'deaf')],
    clock,
  });
  await start();
  stop.abort();
  for (const milliseconds of [25_000, 400]) {
    await settle();
    clock.advance(milliseconds);
  }
  await settle();
  assert.equal(result(), undefined);
  clock.advance(100);
  await settle();
  assert.deepEqual(calls, ['+cache', '+deaf one', '-cache']);
  assert.match(reasonIn(result()), /deaf one still runs$/);
});

test('reconciles that a controller abandoned are named', async () => {
  const controller: Runnable = { name: 'builder', abandoned: ['n/a'], run: untilAborted };
  const { start, stop, cache, result } = setUp({ controllers: [controller] });
  cache.sync();
  await start();
  stop.abort();
  await settle();
  assert.match(reasonIn(result()), /builder still works on n\/a/);
});

const electing = (options: Partial<ManagerOptions> & { stopping?: 'good' | 'deaf' } = {}) => {
  const calls: string[] = [];
  const fake = fakeElection();
  const { stopping, ...rest } = options;
  const rig = setUp({
    controllers: [part('always', calls)],
    leaderOnly: [part('leader-only', calls, stopping)],
    leaderElection: fake.election,
    ...rest,
  });
  rig.cache.sync();
  return { ...rig, fake, calls };
};

test('leader-only work runs while this process leads, the rest always', async () => {
  const { start, stop, fake, calls, result } = electing();
  await start();
  assert.deepEqual(calls, ['+always']);
  fake.elect();
  await settle();
  assert.deepEqual(calls, ['+always', '+leader-only']);
  stop.abort();
  await settle();
  assert.deepEqual(fake.calls, ['released'], 'after the work has ended');
  assert.deepEqual(result(), { ok: true });
});

test('losing leadership ends the manager with a clear reason', async () => {
  const { start, fake, calls, result, manager } = electing();
  await start();
  fake.elect();
  await settle();
  fake.depose();
  await settle();
  assert.match(reasonIn(result()), /^leadership was lost/);
  assert.deepEqual(calls, ['+always', '+leader-only', '-leader-only', '-always']);
  assert.equal(manager.state, 'ended');
});

test('leader-only work that continues after leadership is lost ends the manager soon, and the lease is not released', async () => {
  const { start, fake, advance, result } = electing({ stopping: 'deaf' });
  await start();
  fake.elect();
  await settle();
  fake.depose();
  await advance(3_999);
  assert.equal(result(), undefined);
  await advance(1);
  assert.match(
    reasonIn(result()),
    /leader-only work could not be stopped: leader-only still runs\. The process must end/,
  );
  assert.deepEqual(fake.calls, []);
});

test('leader-only work that ignores the stop gets most of the stop deadline, and the lease is not released', async () => {
  const { start, stop, fake, advance, result, cache } = electing({ stopping: 'deaf' });
  await start();
  fake.elect();
  await settle();
  stop.abort();
  await advance(23_999);
  assert.equal(result(), undefined);
  await advance(1);
  assert.match(reasonIn(result()), /leader-only work could not be stopped/);
  assert.deepEqual(fake.calls, []);
  assert.equal(cache.running, false);
});

test('a failed election stops the leader-only work', async () => {
  const { start, fake, calls, result } = electing();
  await start();
  fake.elect();
  await settle();
  fake.breakDown(new Error('leases are forbidden'));
  await settle();
  assert.equal(reasonIn(result()), 'leader election failed: leases are forbidden');
  assert.ok(calls.includes('-leader-only'));
});

test('a failed election ends after the leader-only work has stopped', async () => {
  const clock = manualClock(0);
  const work: string[] = [];
  const { start, fake, result } = electing({ clock, leaderOnly: [slow('leader-only', work, clock)] });
  await start();
  fake.elect();
  await settle();
  fake.breakDown(new Error('leases are forbidden'));
  await settle();
  assert.equal(result(), undefined);
  clock.advance(500);
  await settle();
  assert.deepEqual(work, ['+leader-only', '-leader-only']);
  assert.equal(reasonIn(result()), 'leader election failed: leases are forbidden');
});
