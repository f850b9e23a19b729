import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import { createLeaderElection } from './election.ts';
import { NotLeadingError } from './gate.ts';
import { transitions } from './states.ts';
import { atOnce, type Fate } from './testing/lease-server.ts';
import { type Candidate, createWorld, lets, type World } from './testing/world.ts';

const seen: Candidate[] = [];
const join = (world: World, ...[name, options]: Parameters<World['candidate']>): Candidate => {
  const candidate = world.candidate(name, options);
  seen.push(candidate);
  return candidate;
};
const specOf = ({ server }: World): Record<string, unknown> => server.current?.spec as Record<string, unknown>;
const lost: Fate = { ...atOnce, kind: 'requestLost' };
const began = ({ happened }: World): string[] => happened.filter(({ what }) => what === 'began').map(({ who }) => who);

test('the first to come leads, renews and keeps the time it got the lease', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  assert.deepEqual(world.passing(), ['a']);
  const { acquireTime, renewTime } = specOf(world);
  assert.equal(acquireTime, '2026-01-01T00:00:00.000000Z');
  await world.pass(60_000);
  assert.deepEqual(world.passing(), ['a']);
  assert.deepEqual(began(world), ['a']);
  assert.equal(specOf(world)['acquireTime'], acquireTime);
  assert.notEqual(specOf(world)['renewTime'], renewTime);
  assert.match(String(specOf(world)['renewTime']), /\.\d{6}Z$/);
  a.stop();
  await world.pass(0);
  assert.equal(await a.done, 'stopped');
});

test('a second one waits, and takes over within a retry period once the first has given back', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  const b = join(world, 'b');
  await world.pass(60_000);
  assert.deepEqual(world.passing(), ['a']);
  a.stop();
  await world.pass(100);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(
    { ...specOf(world), acquireTime: 0, renewTime: 0 },
    {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
      acquireTime: 0,
      renewTime: 0,
    },
  );
  await world.pass(2_000);
  assert.deepEqual(world.passing(), ['b']);
  assert.equal(specOf(world)['leaseTransitions'], 1);
  assert.deepEqual(
    world.happened.map(({ who, what }) => `${who} ${what}`),
    ['a began', 'a told', 'a ended', 'b began'],
  );
  b.stop();
  await world.pass(0);
});

test('the lease is renewed and the gate open until the work has ended, then it is given back', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  const b = join(world, 'b');
  await world.pass(0);
  a.settleMs = 25_000;
  a.stop();
  await world.pass(24_000);
  assert.deepEqual(world.passing(), ['a']);
  assert.ok(lets(a.election.gate));
  assert.equal(specOf(world)['holderIdentity'], 'a');
  await world.pass(3_100);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(world.passing(), ['b']);
  b.stop();
  await world.pass(0);
});

test('a leader that cannot renew closes its gate and ends its work before another starts', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  const b = join(world, 'b');
  await world.pass(5_000);
  a.fateOf = () => lost;
  await world.pass(30_000);
  assert.deepEqual(
    world.happened.map(({ who, what }) => `${who} ${what}`),
    ['a began', 'a told', 'a ended', 'b began'],
  );
  assert.deepEqual(world.passing(), ['b']);
  assert.throws(() => a.election.gate.pass(), NotLeadingError);
  a.fateOf = () => atOnce;
  b.stop();
  await world.pass(7_100);
  assert.deepEqual(began(world), ['a', 'b', 'a'], 'it follows, and leads again');
  a.stop();
  await world.pass(0);
});

test('the renew deadline counts from when the last renewal was sent, not from its answer', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  a.fateOf = () => ({ ...atOnce, backMs: 2_000 });
  await world.pass(4_000);
  assert.deepEqual(a.election.gate.pass(), { remainingMs: 8_000 });
  a.fateOf = () => lost;
  await world.pass(7_900);
  assert.ok(!a.told);
  assert.deepEqual(world.passing(), ['a']);
  await world.pass(100);
  assert.ok(a.told);
  assert.deepEqual(world.passing(), []);
  a.stop();
  await world.pass(5_000);
});

test('a leader survives errors, lost requests and lost answers as long as one renewal gets through in time', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  const well = ['answered', 'answered', 'answered'] as const;
  const kinds = [
    ...well,
    'failedBefore',
    ...well,
    'failedAfter',
    ...well,
    'answerLost',
    ...well,
    'requestLost',
  ] as const;
  let count = 0;
  a.fateOf = () => ({ ...atOnce, kind: kinds[count++ % kinds.length] ?? 'answered' });
  const b = join(world, 'b');
  await world.pass(120_000);
  assert.deepEqual(began(world), ['a']);
  a.fateOf = () => atOnce;
  a.stop();
  b.stop();
  await world.pass(6_000);
});

test('a lease that was got, though the answer was lost, is used at the next try', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  let count = 0;
  a.fateOf = () => ({ ...atOnce, kind: count++ === 1 ? 'answerLost' : 'answered' });
  await world.pass(0);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  assert.deepEqual(world.passing(), [], 'having read our own name is no reason to lead');
  await world.pass(7_100);
  assert.deepEqual(world.passing(), ['a']);
  a.stop();
  await world.pass(0);
});

test('a candidate that is stopped while it gets the lease gives it back', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  a.fateOf = () => ({ ...atOnce, toMs: 500 });
  await world.pass(700);
  a.stop();
  await world.pass(5_000);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(began(world), []);
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('a renewal that arrives late does not keep the lease from being given back', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  a.fateOf = () => ({ ...atOnce, toMs: 300 });
  a.stop();
  await world.pass(400);
  world.server.update({ ...world.server.get(), spec: { ...specOf(world), renewTime: 'late' } });
  await world.pass(1_000);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('a candidate that is stopped while it follows leaves the lease alone', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  const b = join(world, 'b');
  await world.pass(1_000);
  b.stop();
  await world.pass(0);
  assert.equal(await b.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], 'a');
  a.stop();
  await world.pass(0);
});

test('work that does not end is lost: the gate is closed, the lease is not given back', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.stop();
  await world.pass(30_000);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(world.passing(), []);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  const { length } = world.server.history;
  await world.pass(30_000);
  assert.equal(world.server.history.length, length, 'nor is it renewed');
});

test('work that does not end after the lease was lost: lost, and never begun a second time', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.fateOf = () => lost;
  await world.pass(9_900);
  a.fateOf = () => atOnce;
  await world.pass(30_100);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(began(world), ['a']);
});

test('a lease lost while draining: the gate closes, and the candidate stops when its work has ended', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  a.settleMs = 20_000;
  a.fateOf = () => lost;
  a.stop();
  await world.pass(9_900);
  assert.deepEqual(world.passing(), ['a']);
  await world.pass(200);
  assert.deepEqual(world.passing(), []);
  await world.pass(10_000);
  assert.equal(await a.done, 'stopped');
});

test('work that ends by itself ends the election; its error is the error of the run', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  a.finish();
  await world.pass(0);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], '');
  const b = join(world, 'b');
  await world.pass(0);
  const rejected = assert.rejects(b.done, /out of disk/);
  b.finish(new Error('out of disk'));
  await world.pass(0);
  await rejected;
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('a server that asks to wait is not asked every retry period', async () => {
  const world = createWorld();
  const calls: number[] = [];
  const refuse = (): Promise<never> => {
    calls.push(world.clock.monotonic());
    return Promise.reject(new KubeError('tooManyRequests', 'slow down', { code: 429, retryAfterMs: 4_000 }));
  };
  const stop = new AbortController();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => log };
  const done = createLeaderElection({
    client: { get: refuse, create: refuse, update: refuse },
    clock: world.clock,
    random: () => 0,
    lease: { namespace: 'ns', name: 'it' },
    identity: 'a',
    log,
  }).run(stop.signal, () => assert.fail('led'));
  await world.pass(8_000);
  assert.deepEqual(calls, [0, 4_000, 8_000]);
  stop.abort();
  assert.equal(await done, 'stopped');
});

test('it tells the metrics who leads, and how often that was somebody else', async () => {
  const world = createWorld();
  for (const [name, changes] of [
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ] as const) {
    const told: string[] = [];
    const one = join(world, name, { metrics: (lease, leads, count) => told.push(`${lease} ${leads} ${count}`) });
    await world.pass(0);
    one.stop();
    await world.pass(0);
    const none = 'it false undefined';
    assert.deepEqual(told, [none, `it true ${changes}`, `it true ${changes}`, none, none]);
  }
});

test('it runs once, and not without an identity', async () => {
  const world = createWorld();
  const a = join(world, 'a');
  await world.pass(0);
  await assert.rejects(
    a.election.run(new AbortController().signal, () => Promise.resolve()),
    /runs once/,
  );
  a.stop();
  await world.pass(0);
  assert.throws(() => world.candidate(''), /identity/);
});

test('together these tests walk every arrow of the state diagram, and no other', () => {
  const arrows = Object.entries(transitions).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
  const moves = seen
    .flatMap(({ logged }) => logged)
    .filter(({ message, fields }) => message === 'election state' && fields['from'] !== undefined)
    .map(({ fields }) => `${String(fields['from'])} → ${String(fields['to'])}`);
  assert.deepEqual([...new Set(moves)].sort(), arrows.sort());
});
