import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import { createLeaderElection, stateTransitions } from './election.ts';
import { NotLeadingError } from './gate.ts';
import { type Candidate, createElectionHarness, type ElectionHarness, isGateOpen } from './testing/election-harness.ts';
import { noFault, type RequestFault } from './testing/lease-server.ts';

const seen: Candidate[] = [];
const join = (harness: ElectionHarness, ...[name, options]: Parameters<ElectionHarness['candidate']>): Candidate => {
  const candidate = harness.candidate(name, options);
  seen.push(candidate);
  return candidate;
};
const specOf = ({ server }: ElectionHarness): Record<string, unknown> =>
  server.current?.spec as Record<string, unknown>;
const lost: RequestFault = { ...noFault, kind: 'requestLost' };
const began = ({ events }: ElectionHarness): string[] =>
  events.filter(({ what }) => what === 'started').map(({ who }) => who);

test('the first candidate leads, renews and keeps its acquireTime', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  const { acquireTime, renewTime } = specOf(harness);
  assert.equal(acquireTime, '2026-01-01T00:00:00.000000Z');
  await harness.advance(60_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  assert.deepEqual(began(harness), ['a']);
  assert.equal(specOf(harness)['acquireTime'], acquireTime);
  assert.notEqual(specOf(harness)['renewTime'], renewTime);
  assert.match(String(specOf(harness)['renewTime']), /\.\d{6}Z$/);
  a.stop();
  await harness.advance(0);
  assert.equal(await a.done, 'stopped');
});

test('a second candidate waits, and takes over within a retry period after the first released the lease', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  const b = join(harness, 'b');
  await harness.advance(60_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  a.stop();
  await harness.advance(100);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(
    { ...specOf(harness), acquireTime: 0, renewTime: 0 },
    {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
      acquireTime: 0,
      renewTime: 0,
    },
  );
  await harness.advance(2_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  assert.equal(specOf(harness)['leaseTransitions'], 1);
  assert.deepEqual(
    harness.events.map(({ who, what }) => `${who} ${what}`),
    ['a started', 'a cancelled', 'a ended', 'b started'],
  );
  b.stop();
  await harness.advance(0);
});

test('the lease is renewed and the gate open until the work has ended, then the lease is released', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  const b = join(harness, 'b');
  await harness.advance(0);
  a.settleMs = 25_000;
  a.stop();
  await harness.advance(24_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  assert.ok(isGateOpen(a.election.gate));
  assert.equal(specOf(harness)['holderIdentity'], 'a');
  await harness.advance(3_100);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  b.stop();
  await harness.advance(0);
});

test('a leader that cannot renew closes its gate and ends its work before another starts', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  const b = join(harness, 'b');
  await harness.advance(5_000);
  a.faultOf = () => lost;
  await harness.advance(30_000);
  assert.deepEqual(
    harness.events.map(({ who, what }) => `${who} ${what}`),
    ['a started', 'a cancelled', 'a ended', 'b started'],
  );
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  assert.throws(() => a.election.gate.pass(), NotLeadingError);
  a.faultOf = () => noFault;
  b.stop();
  await harness.advance(7_100);
  assert.deepEqual(began(harness), ['a', 'b', 'a'], 'it follows, and leads again');
  a.stop();
  await harness.advance(0);
});

test('the renew deadline counts from when the last renewal was sent, not from its answer', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  a.faultOf = () => ({ ...noFault, backMs: 2_000 });
  await harness.advance(4_000);
  assert.deepEqual(a.election.gate.pass(), { remainingMs: 8_000 });
  a.faultOf = () => lost;
  await harness.advance(7_900);
  assert.ok(!a.cancelled);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  await harness.advance(100);
  assert.ok(a.cancelled);
  assert.deepEqual(harness.candidatesWithOpenGate(), []);
  a.stop();
  await harness.advance(5_000);
});

test('a leader survives errors, lost requests and lost answers as long as one renewal gets through in time', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
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
  const b = join(harness, 'b');
  await harness.advance(120_000);
  assert.deepEqual(began(harness), ['a']);
  a.faultOf = () => noFault;
  a.stop();
  b.stop();
  await harness.advance(6_000);
});

test('a lease that was acquired although the response was lost is used at the next attempt', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  let count = 0;
  a.faultOf = () => ({ ...noFault, kind: count++ === 1 ? 'answerLost' : 'answered' });
  await harness.advance(0);
  assert.equal(specOf(harness)['holderIdentity'], 'a');
  assert.deepEqual(harness.candidatesWithOpenGate(), [], 'having read our own name is no reason to lead');
  await harness.advance(7_100);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  a.stop();
  await harness.advance(0);
});

test('a candidate that is stopped while acquiring the lease releases it', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  a.faultOf = () => ({ ...noFault, toMs: 500 });
  await harness.advance(700);
  a.stop();
  await harness.advance(5_000);
  assert.equal(await a.done, 'stopped');
  assert.deepEqual(began(harness), []);
  assert.equal(specOf(harness)['holderIdentity'], '');
});

test('a late renewal does not prevent the release of the lease', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  a.faultOf = () => ({ ...noFault, toMs: 300 });
  a.stop();
  await harness.advance(400);
  harness.server.update({ ...harness.server.get(), spec: { ...specOf(harness), renewTime: 'late' } });
  await harness.advance(1_000);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(harness)['holderIdentity'], '');
});

test('a candidate that is stopped while it follows leaves the lease alone', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  const b = join(harness, 'b');
  await harness.advance(1_000);
  b.stop();
  await harness.advance(0);
  assert.equal(await b.done, 'stopped');
  assert.equal(specOf(harness)['holderIdentity'], 'a');
  a.stop();
  await harness.advance(0);
});

test('when the work does not end, the gate is closed and the lease is not released', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.stop();
  await harness.advance(30_000);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(harness.candidatesWithOpenGate(), []);
  assert.equal(specOf(harness)['holderIdentity'], 'a');
  const { length } = harness.server.history;
  await harness.advance(30_000);
  assert.equal(harness.server.history.length, length, 'nor is it renewed');
});

test('when the work does not end after the lease was lost, the election reports lost and does not start it again', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  a.settleMs = Number.POSITIVE_INFINITY;
  a.faultOf = () => lost;
  await harness.advance(9_900);
  a.faultOf = () => noFault;
  await harness.advance(30_100);
  assert.equal(await a.done, 'lost');
  assert.deepEqual(began(harness), ['a']);
});

test('when the lease is lost while draining, the gate closes, and the candidate stops after its work', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  a.settleMs = 20_000;
  a.faultOf = () => lost;
  a.stop();
  await harness.advance(9_900);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  await harness.advance(200);
  assert.deepEqual(harness.candidatesWithOpenGate(), []);
  await harness.advance(10_000);
  assert.equal(await a.done, 'stopped');
});

test('work that ends by itself ends the election, with its error if any', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  a.finish();
  await harness.advance(0);
  assert.equal(await a.done, 'stopped');
  assert.equal(specOf(harness)['holderIdentity'], '');
  const b = join(harness, 'b');
  await harness.advance(0);
  const rejected = assert.rejects(b.done, /out of disk/);
  b.finish(new Error('out of disk'));
  await harness.advance(0);
  await rejected;
  assert.equal(specOf(harness)['holderIdentity'], '');
});

test('Retry-After overrides the retry period', async () => {
  const harness = createElectionHarness();
  const calls: number[] = [];
  const refuse = (): Promise<never> => {
    calls.push(harness.clock.monotonic());
    return Promise.reject(new KubeError('tooManyRequests', 'slow down', { code: 429, retryAfterMs: 4_000 }));
  };
  const stop = new AbortController();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => log };
  const done = createLeaderElection({
    client: { get: refuse, create: refuse, update: refuse },
    clock: harness.clock,
    random: () => 0,
    lease: { namespace: 'ns', name: 'it' },
    identity: 'a',
    log,
  }).run(stop.signal, () => assert.fail('led'));
  await harness.advance(8_000);
  assert.deepEqual(calls, [0, 4_000, 8_000]);
  stop.abort();
  assert.equal(await done, 'stopped');
});

test('the metrics show whether this process leads, and the lease transitions', async () => {
  const harness = createElectionHarness();
  for (const [name, changes] of [
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ] as const) {
    const reported: string[] = [];
    const one = join(harness, name, { metrics: (lease, leads, count) => reported.push(`${lease} ${leads} ${count}`) });
    await harness.advance(0);
    one.stop();
    await harness.advance(0);
    const none = 'it false undefined';
    assert.deepEqual(reported, [none, `it true ${changes}`, `it true ${changes}`, none, none]);
  }
});

test('an election runs once, and needs an identity', async () => {
  const harness = createElectionHarness();
  const a = join(harness, 'a');
  await harness.advance(0);
  await assert.rejects(
    a.election.run(new AbortController().signal, () => Promise.resolve()),
    /runs once/,
  );
  a.stop();
  await harness.advance(0);
  assert.throws(() => harness.candidate(''), /identity/);
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
