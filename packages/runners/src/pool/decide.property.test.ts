import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ModelCluster, modelCluster } from './testing/model/cluster.ts';
import type { Pass } from './testing/model/controller.ts';

/** An event in the life of a pool. */
type Step = (cluster: ModelCluster) => void;

const one = <T>(weight: number, of: fc.Arbitrary<T>, name: string, step: (value: T) => Step) => ({
  weight,
  arbitrary: of.map((value) => Object.assign(step(value), { toString: () => `${name} ${String(value)}` })),
});
const mac = fc.nat(7);
const nothing = fc.constant('');
/** `round` runs whole passes; `sync` and `work` split them, so that the model changes in between; the rest are events. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  one(16, nothing, 'round', () => (cluster) => cluster.round()),
  one(8, nothing, 'sync', () => (cluster) => cluster.sync()),
  one(14, fc.integer({ min: 1, max: 12 }), 'work', (calls) => (cluster) => cluster.work(calls)),
  one(14, fc.constantFrom(1, 2, 5, 12, 30), 'pass', (ticks) => (cluster) => cluster.pass(ticks)),
  one(3, nothing, 'crash', () => (cluster) => cluster.crash()),
  one(3, nothing, 'call arrives', () => (cluster) => cluster.arrive()),
  one(2, nothing, 'crash in registration', () => (cluster) => cluster.crashInRegistration()),
  one(2, nothing, 'freeze in delete', () => (cluster) => cluster.freezeInDelete()),
  one(
    6,
    fc.constantFrom('surplus' as const, 'image' as const, 'drain' as const),
    'assignBeforeRetire',
    (why) => (cluster) => cluster.assignBeforeRetire(why),
  ),
  one(
    6,
    fc.tuple(mac, fc.constantFrom(2, 10, 30)),
    'restartAgent',
    (restartAgent) => (cluster) => cluster.restartAgent(...restartAgent),
  ),
  one(8, fc.integer({ min: 1, max: 3 }), 'jobs', (jobs) => (cluster) => void (cluster.github.queued += jobs)),
  one(6, fc.nat(6), 'replicas', (replicas) => (cluster) => cluster.server.setPool({ replicas })),
  one(2, fc.integer({ min: 1, max: 3 }), 'image', (image) => (cluster) => cluster.server.setPool({ image })),
  one(4, fc.tuple(mac, fc.boolean()), 'agent', (up) => (cluster) => cluster.setUp(...up)),
  one(4, fc.tuple(mac, fc.boolean()), 'cordon', (cordon) => (cluster) => cluster.cordon(...cordon)),
  one(1, mac, 'removeMac', (index) => (cluster) => cluster.removeMac(index)),
  one(1, nothing, 'join', () => (cluster) => cluster.join()),
  one(3, fc.boolean(), 'out', (isOut) => (cluster) => void Object.assign(cluster.github, { isOut })),
  one(3, fc.boolean(), 'lies', (isLying) => (cluster) => void Object.assign(cluster.github, { isLying })),
  one(1, fc.nat(9), 'remove runner', (index) => (cluster) => cluster.removeRunner(index)),
  one(1, nothing, 'delete pool', () => (cluster) => cluster.server.deletePool()),
);

const anyHistory = fc.array(anyStep, { maxLength: 80, size: 'max' });
const anySize = fc.record({
  seed: fc.nat(),
  macs: fc.integer({ min: 1, max: 3 }),
  replicas: fc.nat(6),
  maxConcurrentPercent: fc.constantFrom(5, 34, 50),
});

/** Checks a plan against its snapshot. */
const check = ({ snapshot, plan }: Pass): void => {
  const { pods, pool, github } = snapshot;
  const pod = (uid: string) => {
    const found = pods.find((each) => each.uid === uid);
    assert.ok(found, 'nobody is touched who was not seen');
    return found;
  };
  const leaving = [...plan.retire, ...plan.remove].map(({ uid }) => uid);
  const touched = [...leaving, ...plan.register, ...plan.reap];
  assert.equal(new Set(touched).size, touched.length, 'one thing at a time for each');

  for (const { uid, reason } of plan.retire) {
    const { node, phase, job, deletedAt, offlineSince } = pod(uid);
    assert.ok(deletedAt === undefined && node.kind === 'exists' && node.isReady, 'its agent reports');
    const isOffline = reason === 'runner is offline' && offlineSince !== undefined;
    assert.ok(job === 'none' || (job === 'unknown' && (phase === 'pending' || isOffline)), 'unknown is busy');
  }
  if (github === 'unusable') assert.deepEqual([plan.retire, plan.register], [[], []], 'without GitHub all stay');
  if (pool.isDeleting) {
    assert.equal(plan.create, 0, 'a deleted pool gets no new Pods');
    for (const uid of plan.register) assert.equal(pod(uid).phase, 'running', 'a deleted pool mints no runners');
  }

  const rolled = plan.retire.filter(({ reason }) => reason === 'stale image').length;
  if (rolled > 0) checkCap(snapshot, new Set(leaving));
};

/** At most `cap` replicas lack a runner that has a job, could take one, or has not been rolled yet. */
const checkCap = ({ pods, pool }: Pass['snapshot'], leaving: ReadonlySet<string>): void => {
  const live = pods.filter(
    ({ deletedAt, phase, node }) => deletedAt === undefined && phase !== 'ended' && node.kind !== 'gone',
  );
  const good = live.filter(
    ({ uid, isStale, retiredAt, phase, job }) =>
      job === 'started' ||
      (!leaving.has(uid) && retiredAt === undefined && (isStale || (phase === 'running' && job === 'none'))),
  );
  // A Pod without room was no runner before either, unless it waits for the slot of a terminating Pod.
  const homeless = live.filter(
    ({ uid, node, isStale }) => !isStale && !leaving.has(uid) && node.kind === 'unscheduled' && node.isUnschedulable,
  );
  const going = pods.filter(({ deletedAt, phase }) => deletedAt !== undefined && phase !== 'ended');
  const without = pool.replicas - good.length - Math.max(0, homeless.length - going.length);
  const cap = Math.max(1, Math.floor((pool.replicas * pool.maxConcurrentPercent) / 100));
  assert.ok(without <= cap, `${without} without a runner, where ${cap} may be`);
};

const play = (size: Parameters<typeof modelCluster>[0], history: readonly Step[]): ModelCluster => {
  const cluster = modelCluster(size);
  for (const step of history) step(cluster);
  return cluster;
};

describe('a pool under random schedules', () => {
  it('never deletes a Pod with a job, never exceeds replicas or the roll cap', () => {
    fc.assert(
      fc.property(anySize, anyHistory, (size, history) => {
        const cluster = play(size, history);
        assert.deepEqual(cluster.wrongs, []);
        for (const pass of cluster.passes) check(pass);
      }),
      { numRuns: 2000 },
    );
  });

  it('converges once nothing changes any more, and is removed after its deletion', () => {
    fc.assert(
      fc.property(anySize, anyHistory, (size, history) => {
        const cluster = play(size, history);
        cluster.endFaults();
        // A guest whose runner never connects keeps its slot for a quarter of an hour, and a rollout replaces one at a time.
        for (let rounds = 0; rounds < 4000 && !cluster.isSettled(); rounds += 1) {
          cluster.deleteMute();
          cluster.round();
        }
        assert.deepEqual(cluster.wrongs, []);
        assert.ok(cluster.isSettled(), cluster.describe());
      }),
      { numRuns: 300 },
    );
  });
});
