import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decide } from './decide.ts';
import { isPassive } from './decision.ts';
import { anySnapshot } from './testing/any-snapshot.ts';
import { host as ownHost } from './testing/snapshots.ts';

const pushes: ReadonlySet<string> = new Set(['bootstrap', 'roll', 'roll back', 're-register']);
const ends: ReadonlySet<string> = new Set([
  'leave',
  'await runner',
  'remove runner',
  'release',
  'await wipe',
  'clean up',
]);
const runs = { numRuns: 5000 };

describe('whatever a machine looks like', () => {
  it('there is an answer, and every wait is a time', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        if ('forMs' in decision) assert.ok(Number.isFinite(decision.forMs) && decision.forMs > 0, `${decision.forMs}`);
      }),
      runs,
    );
  });

  it('a deletion is held up by nothing but a pause, and nothing else is called one', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { machine, cluster } = snapshot;
        const waits = machine?.held === true && cluster.pauses.length > 0;
        assert.equal(ends.has(decide(snapshot).kind), machine?.deleting === true && !waits);
      }),
      runs,
    );
  });

  it('nothing is done for one that is paused (invariant 15)', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (snapshot.cluster.pauses.length > 0) assert.ok(isPassive(decide(snapshot)), decide(snapshot).kind);
      }),
      runs,
    );
  });

  it('no Mac is touched but one’s own, with a finalizer, unpaused, with a key', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (!pushes.has(decide(snapshot).kind)) return;
        const { host: mac, machine: who, cluster, fleetKey, restMs } = snapshot;
        assert.ok(mac.kind === 'present' && mac.holder === 'me' && mac.release === undefined && !mac.gone);
        assert.ok(who?.held === true && !who.deleting && who.providerID?.endsWith(who.memory.serverID ?? '-') === true);
        assert.ok(cluster.pauses.length === 0 && cluster.waitsFor === undefined);
        assert.ok(fleetKey.kind === 'ready' && restMs === 0);
      }),
      runs,
    );
  });

  it('a machine that was made ready keeps its Mac, and its Mac is not restarted', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        if (snapshot.machine?.memory.initialization?.provisioned === true)
          assert.ok(!['give back', 'reboot', 'let go', 'bootstrap'].includes(kind), kind);
      }),
      runs,
    );
  });

  it('nothing is rolled without a turn for it, nor what was refused', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        if (decision.kind !== 'roll') return;
        assert.equal(snapshot.turn?.hash, decision.hash);
        assert.equal(snapshot.turn.rollBack, false);
        assert.deepEqual(snapshot.desired, { kind: 'known', hash: decision.hash });
        assert.equal(snapshot.machine?.memory.failedHostConfigHash, undefined);
        if (decision.idle)
          assert.ok(snapshot.idle === true && snapshot.node.kind === 'ours' && snapshot.node.unschedulable);
      }),
      runs,
    );
  });

  it('a Mac is restarted or given back only when nothing can run on it', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        if (kind === 'give back' || kind === 'reboot') assert.notEqual(snapshot.idle, false);
        if (kind === 'reboot') assert.notEqual(snapshot.machine?.memory.bootstrapRebootIssued, true);
      }),
      runs,
    );
  });

  it('a Mac goes back only when its runner has no job, is gone, or was not heard of for long', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { runner } = snapshot;
        if (decide(snapshot).kind !== 'release' || runner.kind === 'not asked' || runner.kind === 'none') return;
        assert.ok(runner.kind === 'unknown' && runner.forMs >= (runner.wasBusy ? 6 * 3_600_000 : 600_000));
      }),
      runs,
    );
  });

  it('a providerID is set only where there is none (INC-38)', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (decide(snapshot).kind === 'set provider id') assert.equal(snapshot.machine?.providerID, undefined);
      }),
      runs,
    );
  });

  it('no Mac and no identity without a Cluster, outside the namespaces, or under the name of another Node', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        const { cluster, machine, node } = snapshot;
        if (machine?.memory.initialization?.provisioned === true || machine?.deleting === true) return;
        if (cluster.refusal !== undefined) assert.ok(['refuse', 'forget', 'pause'].includes(kind), kind);
        if (node.kind === 'foreign') assert.ok(kind !== 'reserve' && kind !== 'bootstrap', kind);
      }),
      runs,
    );
  });

  it('a machine that was made ready is never refused anything', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (snapshot.machine?.memory.initialization?.provisioned !== true) return;
        assert.deepEqual(
          decide(snapshot),
          decide({ ...snapshot, cluster: { ...snapshot.cluster, refusal: undefined } }),
        );
        assert.notEqual(
          decide({ ...snapshot, host: ownHost, node: { kind: 'foreign', providerID: 'x' } }).kind,
          'refuse',
        );
      }),
      runs,
    );
  });
});
