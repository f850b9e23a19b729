import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import { createLeaderElection, stateTransitions } from './election.ts';
import { NotLeadingError } from './gate.ts';
import { type Candidate, createElectionHarness, type ElectionHarness, isGateOpen } from './testing/election-harness.ts';
import { noFault, type RequestFault } from './testing/lease-server.ts';

const seen: Candidate[] = [];
const join = (world: ElectionHarness, ...[name, options]: Parameters<ElectionHarness['candidate']>): Candidate => {
  const candidate = world.candidate(name, options);
  seen.push(candidate);
  return candidate;
};
const specOf = ({ server }: ElectionHarness): Record<string, unknown> =>
  server.current?.spec as Record<string, unknown>;
const lost: RequestFault = { ...noFault, kind: 'requestLost' };
const began = ({ events }: ElectionHarness): string[] =>
  events.filter(({ what }) => what === 'started').map(({ who }) => who);

test('the first candidate leads, renews and keeps its acquireTime', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  const { acquireTime, renewTime } = specOf(world);
  assert.equal(acquireTime, '2026-01-01T00:00:00.000000Z');
  await world.advance(60_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  assert.deepEqual(began(world), ['a']);
  assert.equal(specOf(world)['acquireTime'], acquireTime);
  assert.notEqual(specOf(world)['renewTime'], renewTime);
  assert.match(String(specOf(world)['renewTime']), /\.\d{6}Z$/);
  a.stop();
  await world.advance(0);
  assert.equal(await a.done, 'stopped');
});

test('a second candidate waits, and takes over within a retry period after the first released the lease', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  const b = join(world, 'b');
  await world.advance(60_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  a.stop();
  await world.advance(100);
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
  await world.advance(2_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  assert.equal(specOf(world)['leaseTransitions'], 1);
  assert.deepEqual(
    world.events.map(({ who, what }) => `${who} ${what}`),
    ['a started', 'a cancelled', 'a ended', 'b started'],
  );
  b.stop();
  await world.advance(0);
});

test('the lease is renewed and the gate open until the work has ended, then the lease is released', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  const b = join(world, 'b');
  await world.advance(0);
  a.settleMs = 25_000;
  a.stop();
  await world.advance(24_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  assert.ok(isGateOpen(a.election.gate));
  assert.equal(specOf(world)['holderIdentity'], 'a');
  await world.advance(3_100);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  b.stop();
  await world.advance(0);
});

test('a leader that cannot renew closes its gate and ends its work before another starts', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  const b = join(world, 'b');
  await world.advance(5_000);
  a.faultOf = () => lost;
  await world.advance(30_000);
  assert.deepEqual(
    world.events.map(({ who, what }) => `${who} ${what}`),
    ['a started', 'a cancelled', 'a ended', 'b started'],
  );
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  assert.throws(() => a.election.gate.pass(), NotLeadingError);
  a.faultOf = () => noFault;
  b.stop();
  await world.advance(7_100);
  assert.deepEqual(began(world), ['a', 'b', 'a'], 'it follows, and leads again');
  a.stop();
  await world.advance(0);
});

test('the renew deadline counts from when the last renewal was sent, not from its answer', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  a.faultOf = () => ({ ...noFault, backMs: 2_000 });
  await world.advance(4_000);
  assert.deepEqual(a.election.gate.pass(), { remainingMs: 8_000 });
  a.faultOf = () => lost;
  await world.advance(7_900);
  assert.ok(!a.cancelled);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  await world.advance(100);
  assert.ok(a.cancelled);
  assert.deepEqual(world.candidatesWithOpenGate(), []);
  a.stop();
  await world.advance(5_000);
});

test('a leader survives errors, lost requests and lost answers as long as one renewal gets through in time', async () => {
  const world = createElectionHarness();
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
  a.faultOf = () => ({ ...noFault, kind: kinds[count++ % kinds.length] ?? 'answered' });
  const b = join(world, 'b');
  await world.advance(120_000);
  assert.deepEqual(began(world), ['a']);
  a.faultOf = () => noFault;
  a.stop();
  b.stop();
  await world.advance(6_000);
});

test('a lease that was acquired although the response was lost is used at the next attempt', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  let count = 0;
  a.faultOf = () => ({ ...noFault, kind: count++ === 1 ? 'answerLost' : 'answered' });
  await world.advance(0);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  assert.deepEqual(world.candidatesWithOpenGate(), [], 'having read our own name is no reason to lead');
  await world.advance(7_100);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  a.stop();
  await world.advance(0);
});

test('a candidate that is stopped while acquiring the lease releases it', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  a.faultOf = () => ({ ...noFault, toMs: 500 });
  await world.advance(700);
  a.stop();
  await world.advance(5_000);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(began(world), []);
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('a late renewal does not prevent the release of the lease', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  a.faultOf = () => ({ ...noFault, toMs: 300 });
  a.stop();
  await world.advance(400);
  world.server.update({ ...world.server.get(), spec: { ...specOf(world), renewTime: 'late' } });
  await world.advance(1_000);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('a candidate that is stopped while it follows leaves the lease alone', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  const b = join(world, 'b');
  await world.advance(1_000);
  b.stop();
  await world.advance(0);
  assert.equal(await b.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], 'a');
  a.stop();
  await world.advance(0);
});

test('work that does not end: the gate is closed and the lease is not released', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.stop();
  await world.advance(30_000);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(world.candidatesWithOpenGate(), []);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  const { length } = world.server.history;
  await world.advance(30_000);
  assert.equal(world.server.history.length, length, 'nor is it renewed');
});

test('work that does not end after the lease was lost: lost, and never begun a second time', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.faultOf = () => lost;
  await world.advance(9_900);
  a.faultOf = () => noFault;
  await world.advance(30_100);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(began(world), ['a']);
});

test('a lease lost while draining: the gate closes, and the candidate stops when its work has ended', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  a.settleMs = 20_000;
  a.faultOf = () => lost;
  a.stop();
  await world.advance(9_900);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  await world.advance(200);
  assert.deepEqual(world.candidatesWithOpenGate(), []);
  await world.advance(10_000);
  assert.equal(await a.done, 'stopped');
});

test('work that ends by itself ends the election; its error is the error of the run', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  a.finish();
  await world.advance(0);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(world)['holderIdentity'], '');
  const b = join(world, 'b');
  await world.advance(0);
  const rejected = assert.rejects(b.done, /out of disk/);
  b.finish(new Error('out of disk'));
  await world.advance(0);
  await rejected;
  assert.equal(specOf(world)['holderIdentity'], '');
});

test('Retry-After overrides the retry period', async () => {
  const world = createElectionHarness();
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
  await world.advance(8_000);
  assert.deepEqual(calls, [0, 4_000, 8_000]);
  stop.abort();
  assert.equal(await done, 'stopped');
});

test('the metrics show whether this process leads, and the lease transitions', async () => {
  const world = createElectionHarness();
  for (const [name, changes] of [
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ] as const) {
    const told: string[] = [];
    const one = join(world, name, { metrics: (lease, leads, count) => told.push(`${lease} ${leads} ${count}`) });
    await world.advance(0);
    one.stop();
    await world.advance(0);
    const none = 'it false undefined';
    assert.deepEqual(told, [none, `it true ${changes}`, `it true ${changes}`, none, none]);
  }
});

test('it runs once, and not without an identity', async () => {
  const world = createElectionHarness();
  const a = join(world, 'a');
  await world.advance(0);
  await assert.rejects(
    a.election.run(new AbortController().signal, () => Promise.resolve()),
    /runs once/,
  );
  a.stop();
  await world.advance(0);
  assert.throws(() => world.candidate(''), /identity/);
});

test('these tests cover exactly the transitions of the state diagram', () => {
  const arrows = Object.entries(stateTransitions).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
  const moves = seen
    .flatMap(({ logged }) => logged)
    .filter(({ message, fields }) => message === 'election state' && fields['from'] !== undefined)
    .map(({ fields }) => `${String(fields['from'])} → ${String(fields['to'])}`);
  assert.deepEqual([...new Set(moves)].sort(), arrows.sort());
});

test('docs/leader-election.md draws the states and arrows of the code', async () => {
  const page = await readFile(new URL('../../../../docs/leader-election.md', import.meta.url), 'utf8');
  const drawn = [...page.matchAll(/^ +(\S+) --> ([^\s:]+)/gm)].map(([, from, to]) => `${from} --> ${to}`);
  const arrows = Object.entries(stateTransitions).flatMap(([from, next]) => [
    ...next.map((to) => `${from} --> ${to}`),
    ...(next.length === 0 ? [`${from} --> [*]`] : []),
  ]);
  assert.deepEqual(drawn.sort(), ['[*] --> following', ...arrows].sort());
});
