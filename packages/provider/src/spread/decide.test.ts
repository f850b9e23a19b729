import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { decide, type Decision, type DeploymentFacts, fleetHash, type Snapshot } from './decide.ts';

const macs = ['mac-a', 'mac-b'];
const deployment: DeploymentFacts = {
  deleting: false,
  paused: false,
  hash: fleetHash(['mac-a']),
  observed: true,
  desired: 3,
  replicas: 3,
  updated: 3,
  available: 3,
  unavailable: 0,
};
const stable: Snapshot = { deployment, ready: macs, stableForMs: 60_000, settleMs: 60_000, lookAgainMs: 30_000 };
const withDeployment = (facts: Partial<DeploymentFacts>): Snapshot => ({
  ...stable,
  deployment: { ...deployment, ...facts },
});
const roll: Decision = { kind: 'roll', hash: fleetHash(macs) };
const unsettled: Decision = { kind: 'wait', reason: 'unsettled', forMs: 30_000 };
const flapping = (forMs: number): Decision => ({ kind: 'wait', reason: 'flapping', forMs });
const spread: Decision = { kind: 'skip', reason: 'spread' };

const table: [string, Snapshot, Decision][] = [
  ['another set of Macs', stable, roll],
  ['a Deployment that was never rolled for one', withDeployment({ hash: undefined }), roll],
  ['a Deployment without Pods', withDeployment({ desired: 0, replicas: 0, updated: 0, available: 0 }), roll],
  ['the same set of Macs', withDeployment({ hash: fleetHash(macs) }), spread],
  [
    'the same set in another order',
    { ...withDeployment({ hash: fleetHash(macs) }), ready: ['mac-b', 'mac-a'] },
    spread,
  ],
  ['the same set in an unsettled Deployment', withDeployment({ hash: fleetHash(macs), updated: 1 }), spread],
  ['the same set again after a flap', { ...withDeployment({ hash: fleetHash(macs) }), stableForMs: 0 }, spread],
  ['no Ready Mac', { ...stable, ready: [] }, { kind: 'skip', reason: 'noReadyMac' }],
  ['no Deployment', { ...stable, deployment: undefined }, { kind: 'wait', reason: 'noDeployment', forMs: 30_000 }],
  ['a Deployment that goes', withDeployment({ deleting: true }), { kind: 'skip', reason: 'deleting' }],
  ['a paused Deployment', withDeployment({ paused: true }), { kind: 'wait', reason: 'paused', forMs: 30_000 }],
  ['a Mac that joined just now', { ...stable, stableForMs: 0 }, flapping(60_000)],
  ['a Mac that joined 59 s ago', { ...stable, stableForMs: 59_000 }, flapping(1000)],
  ['no flip in memory', { ...stable, stableForMs: Infinity }, roll],
  ['an invalid duration', { ...stable, stableForMs: Number.NaN }, flapping(60_000)],
  ['a generation not acted on yet', withDeployment({ observed: false }), unsettled],
  ['Pods of before not replaced yet', withDeployment({ updated: 2 }), unsettled],
  ['Pods of before not gone yet', withDeployment({ replicas: 4 }), unsettled],
  ['Pods not available yet', withDeployment({ available: 2 }), unsettled],
  ['Pods said to be unavailable', withDeployment({ unavailable: 1 }), unsettled],
  ['a Deployment being scaled', withDeployment({ desired: 5 }), unsettled],
];

describe('whether a Deployment is rolled over the Ready Macs', () => {
  for (const [name, snapshot, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decide(snapshot), decision);
    });

  const count = fc.integer({ min: -1, max: 4 });
  const anySnapshot: fc.Arbitrary<Snapshot> = fc.record({
    deployment: fc.option(
      fc.record({
        deleting: fc.boolean(),
        paused: fc.boolean(),
        hash: fc.constantFrom(undefined, '', fleetHash(macs), fleetHash(['mac-a'])),
        observed: fc.boolean(),
        desired: count,
        replicas: count,
        updated: count,
        available: count,
        unavailable: count,
      }),
      { nil: undefined },
    ),
    ready: fc.subarray([...macs, 'mac-c']),
    stableForMs: fc.double(),
    settleMs: fc.nat(1e6),
    lookAgainMs: fc.nat(1e6),
  });

  it('is total, a wait is finite, and a roll changes the hash', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        assert.ok(['skip', 'wait', 'roll'].includes(decision.kind));
        if (decision.kind === 'wait') assert.ok(Number.isFinite(decision.forMs) && decision.forMs >= 0);
        if (decision.kind !== 'roll') return;
        assert.notEqual(snapshot.deployment?.hash, decision.hash);
        assert.ok(snapshot.stableForMs >= snapshot.settleMs);
        assert.equal(decision.hash, fleetHash(snapshot.ready));
      }),
      { numRuns: 2000 },
    );
  });
});

test('the hash is the first 8 bytes of the SHA-256 of the sorted names', () => {
  // printf %s mac-a,mac-b | sha256sum
  assert.equal(fleetHash(['mac-b', 'mac-a']), '83859c1441536766');
});

test('the hash does not depend on the order of the names, and leaves them as they are', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), (names) => {
      const given = Object.freeze([...names].reverse());
      assert.equal(fleetHash(given), fleetHash(names));
    }),
  );
});
