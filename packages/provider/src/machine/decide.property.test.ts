import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decide } from './decide.ts';
import { isPassive } from './decision.ts';
import { lastAttemptOf, pauseMs } from './last-attempt.ts';
import { anySnapshot } from './testing/any-snapshot.ts';
import { host as ownHost } from './testing/snapshots.ts';

const pushes: ReadonlySet<string> = new Set(['bootstrap', 'roll', 'roll back', 're-register']);
const ends: ReadonlySet<string> = new Set([
  'ignore',
  'await runner',
  'remove runner',
  'release',
  'await wipe',
  'clean up',
]);
const runs = { numRuns: 5000 };

describe('decide, for any snapshot', () => {
  it('returns a decision, and every wait is finite', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        if ('forMs' in decision) assert.ok(Number.isFinite(decision.forMs) && decision.forMs > 0, `${decision.forMs}`);
      }),
      runs,
    );
  });

  it('only a pause blocks a deletion', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { machine, cluster } = snapshot;
        const waits = machine.hasFinalizer && cluster.pauseReasons.length > 0;
        assert.equal(ends.has(decide(snapshot).kind), machine.deleting && !waits);
      }),
      runs,
    );
  });

  it('a paused machine is not touched (invariant 15)', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (snapshot.cluster.pauseReasons.length > 0) assert.ok(isPassive(decide(snapshot)), decide(snapshot).kind);
      }),
      runs,
    );
  });

  it('only a Mac that the machine holds is touched: with finalizer and SSH key, not paused', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (!pushes.has(decide(snapshot).kind)) return;
        const { now, host: mac, machine: who, cluster, fleetKey } = snapshot;
        assert.ok(mac.kind === 'present' && mac.holder === 'me' && mac.release === undefined && !mac.gone);
        assert.ok(who.hasFinalizer && !who.deleting && who.providerID?.endsWith(who.status.serverID ?? '-') === true);
        assert.ok(cluster.pauseReasons.length === 0 && cluster.waitingFor === undefined);
        const attempt = lastAttemptOf(who.status);
        const pause = attempt?.task === 'Credentials' ? 0 : pauseMs(attempt, now, snapshot.node);
        assert.ok(fleetKey.kind === 'ready' && (pause === 0 || decide(snapshot).kind === 'bootstrap'));
      }),
      runs,
    );
  });

  it('a provisioned machine keeps its Mac, and the Mac is not rebooted', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        if (snapshot.machine.status.initialization?.provisioned === true)
          assert.ok(!['release failed host', 'reboot', 'detach host', 'bootstrap'].includes(kind), kind);
      }),
      runs,
    );
  });

  it('nothing is rolled without a turn, nor after it was rejected', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        if (decision.kind !== 'roll') return;
        assert.equal(snapshot.turn?.hash, decision.hash);
        assert.equal(snapshot.turn.rollBack, false);
        assert.deepEqual(snapshot.desired, { kind: 'known', hash: decision.hash });
        assert.equal(snapshot.machine.status.failedHostConfigHash, undefined);
        if (decision.idle)
          assert.ok(snapshot.idle === true && snapshot.node.kind === 'ours' && snapshot.node.unschedulable);
      }),
      runs,
    );
  });

  it('a Mac is rebooted or released only when idle', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        if (kind === 'release failed host' || kind === 'reboot') assert.notEqual(snapshot.idle, false);
        if (kind === 'reboot') assert.notEqual(snapshot.machine.status.bootstrapRebootIssued, true);
      }),
      runs,
    );
  });

  it('a Mac is released only when its runner is idle, gone, or unreachable past the grace period', () => {
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
        if (decide(snapshot).kind === 'set provider id') assert.equal(snapshot.machine.providerID, undefined);
      }),
      runs,
    );
  });

  it('no Mac and no identity without a Cluster, outside the allowed namespaces, or when the Node name is taken', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { kind } = decide(snapshot);
        const { cluster, machine, node } = snapshot;
        if (machine.status.initialization?.provisioned === true || machine.deleting) return;
        if (cluster.refusal !== undefined) assert.ok(['refuse', 'pause'].includes(kind), kind);
        if (node.kind === 'foreign') assert.ok(kind !== 'reserve' && kind !== 'bootstrap', kind);
      }),
      runs,
    );
  });

  it('a provisioned machine is never refused', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (snapshot.machine.status.initialization?.provisioned !== true) return;
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
