import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../runtime/objects.ts';
import { type ClaimFacts, decideClaim } from './controller-ref.ts';
import { type ProgressFacts, progressing, withCondition, withProgress } from './deployment-status.ts';
import type { Deployment, DeploymentSpec, ReplicaSet } from './objects.ts';
import { podsToDelete } from './replica-sets.ts';
import { currentAnnotations, nextRevision, revisionsToDelete, sameTemplate, templateHash } from './revisions.ts';
import { proportions, rolloutLimits } from './rollout.ts';

const metadata = (name: string, annotations: Record<string, string> = {}) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  annotations,
});

describe('maxSurge and maxUnavailable', () => {
  const rolling = (maxSurge: number | string, maxUnavailable: number | string, replicas: number): DeploymentSpec =>
    ({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } }) as DeploymentSpec;
  const table: [DeploymentSpec, number, number][] = [
    [rolling('25%', '25%', 10), 3, 2],
    [rolling('25%', '25%', 1), 1, 0],
    [rolling(0, '25%', 1), 0, 1],
    [rolling(2, 9, 4), 2, 4],
    [rolling('25%', '25%', 0), 0, 0],
    [{ replicas: 4, strategy: { type: 'Recreate' } } as DeploymentSpec, 0, 0],
  ];
  for (const [spec, maxSurge, maxUnavailable] of table)
    it(`of ${spec.replicas} with ${JSON.stringify(spec.strategy)}`, () =>
      assert.deepEqual(rolloutLimits(spec), { maxSurge, maxUnavailable }));
});

describe('adoption and release', () => {
  const table: [Partial<ClaimFacts>, ReturnType<typeof decideClaim>][] = [
    [{}, 'keep'],
    [{ matches: false }, 'release'],
    [{ matches: false, ownerDeleting: true }, 'ignore'],
    [{ ownerDeleting: true }, 'keep'],
    [{ owner: 'none' }, 'adopt'],
    [{ owner: 'none', matches: false }, 'ignore'],
    [{ owner: 'none', deleting: true }, 'ignore'],
    [{ owner: 'none', ownerDeleting: true }, 'ignore'],
    [{ owner: 'other' }, 'ignore'],
  ];
  for (const [facts, expected] of table)
    it(JSON.stringify(facts), () =>
      assert.equal(
        decideClaim({ matches: true, owner: 'self', ownerDeleting: false, deleting: false, ...facts }),
        expected,
      ),
    );
});

describe('which Pod is deleted first', () => {
  const pod = (
    name: string,
    more: { node?: string; phase?: string; readyAt?: string; cost?: string; made?: string },
  ): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata(name, more.cost ? { 'controller.kubernetes.io/pod-deletion-cost': more.cost } : {}),
      creationTimestamp: more.made ?? '2026-01-01T00:00:00Z',
    },
    spec: more.node ? { nodeName: more.node } : {},
    status: {
      phase: more.phase ?? 'Running',
      conditions: more.readyAt ? [{ type: 'Ready', status: 'True', lastTransitionTime: more.readyAt }] : [],
    },
  });
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
  const ready = { node: 'm', readyAt: early };
  const table: [what: string, first: Pod, second: Pod][] = [
    ['without a Node', pod('z', {}), pod('b', { node: 'm', phase: 'Pending' })],
    ['that has not started', pod('z', { node: 'm', phase: 'Pending' }), pod('b', { node: 'm' })],
    ['that is not ready', pod('z', { node: 'm' }), pod('b', ready)],
    ['that costs less', pod('z', { ...ready, cost: '-5' }), pod('b', ready)],
    ['whose cost is no number costs nothing', pod('z', { ...ready, cost: 'x' }), pod('b', { ...ready, cost: '1' })],
    ['that became ready last', pod('z', { node: 'm', readyAt: late }), pod('b', ready)],
    ['that was made last', pod('z', { ...ready, made: late }), pod('b', ready)],
  ];
  for (const [what, first, second] of table)
    it(`one ${what}`, () => {
      assert.deepEqual(podsToDelete([second, first], 1), [first]);
      assert.deepEqual(podsToDelete([first, second], 2), [first, second]);
    });
  it('one of several on the same Node', () => {
    const pods = [pod('c', { ...ready, node: 'n' }), pod('a', ready), pod('b', ready)];
    assert.deepEqual(podsToDelete(pods, 1), [pods[1]]);
  });
});

describe('the hash of a template', () => {
  const template = { metadata: { labels: { app: 'x' } }, spec: { nodeName: 'm' } };
  it('does not depend on the order of fields, nor on the hash label', () => {
    const same = { spec: { nodeName: 'm' }, metadata: { labels: { 'pod-template-hash': 'z', app: 'x' } } };
    assert.equal(templateHash(same), templateHash(template));
    assert.ok(sameTemplate(same, template));
  });
  it('depends on everything else, and on the collision count', () => {
    assert.notEqual(templateHash({ ...template, spec: { nodeName: 'n' } }), templateHash(template));
    assert.notEqual(templateHash(template, 1), templateHash(template));
    assert.match(templateHash(template), /^[bcdfghjklmnpqrstvwxz2456789]+$/);
  });
});

const setAt = (revision: number, more: Record<string, string> = {}, replicas = 0): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: metadata(`r${revision}`, { 'deployment.kubernetes.io/revision': String(revision), ...more }),
  spec: { replicas, selector: {}, template: {} },
  status: { replicas },
});

describe('revisions', () => {
  const deployment = (annotations: Record<string, string>): Deployment =>
    ({ metadata: metadata('d', annotations) }) as Deployment;
  const history = 'deployment.kubernetes.io/revision-history';
  const number = 'deployment.kubernetes.io/revision';

  it('are higher than all others', () => {
    assert.equal(nextRevision([]), 1);
    assert.equal(nextRevision([setAt(2), setAt(7), setAt(3)]), 8);
  });
  it('have the annotations of the Deployment, except its own', () => {
    const given = { why: 'because', [number]: '9', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    assert.deepEqual(currentAnnotations(deployment(given), undefined, 1), { why: 'because', [number]: '1' });
  });
  it('are unchanged for the newest ReplicaSet', () => {
    assert.deepEqual(currentAnnotations(deployment({}), setAt(3), 3), { [number]: '3' });
  });
  it('are kept in the history of a ReplicaSet that is reused', () => {
    assert.deepEqual(currentAnnotations(deployment({}), setAt(3), 5), { [number]: '5', [history]: '3' });
    assert.deepEqual(currentAnnotations(deployment({}), setAt(5, { [history]: '3' }), 8), {
      [number]: '8',
      [history]: '3,5',
    });
  });
  it('beyond the limit are deleted when empty, oldest first', () => {
    const names = (sets: ReplicaSet[]): string[] => sets.map((each) => each.metadata.name);
    assert.deepEqual(names(revisionsToDelete([setAt(3), setAt(1), setAt(2)], 1)), ['r1', 'r2']);
    assert.deepEqual(names(revisionsToDelete([setAt(3), setAt(1, {}, 1), setAt(2)], 1)), ['r2']);
    assert.deepEqual(revisionsToDelete([setAt(1)], 1), []);
  });
});

describe('proportional scaling', () => {
  it('adds up to the new total, and changes all sizes in one direction', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(sizes, fc.nat(60), (given, allowed) => {
        const before = given.reduce((sum, each) => sum + each, 0);
        const sets = given.map((replicas, index) => ({
          name: String(index),
          replicas,
          available: 0,
          desired: before,
          max: before,
        }));
        const after = proportions(sets, before, allowed);
        assert.equal(
          [...after.values()].reduce((sum, each) => sum + each, 0),
          allowed,
        );
        for (const { name, replicas } of sets) {
          const now = after.get(name) ?? 0;
          assert.ok(allowed >= before ? now >= replicas : now <= replicas);
        }
      }),
    );
  });
});

describe('progress', () => {
  const now = Date.parse('2026-01-01T01:00:00Z');
  const at = (minutes: number): string => new Date(now - minutes * 60_000).toISOString().replace('.000', '');
  const condition = (reason: string, status = 'True', minutes = 5) => ({
    type: 'Progressing',
    status,
    reason,
    lastUpdateTime: at(minutes),
    lastTransitionTime: at(60),
  });
  const facts = (more: Partial<ProgressFacts>): ProgressFacts => ({
    spec: { replicas: 2, progressDeadlineSeconds: 600 },
    deployment: 'd',
    current: 'd-1',
    before: { replicas: 2, updatedReplicas: 1 },
    status: { replicas: 2, updatedReplicas: 1 },
    generation: 1,
    note: undefined,
    now,
    ...more,
  });
  const done = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 1 };
  const table: [
    what: string,
    old: ReturnType<typeof condition> | undefined,
    more: Partial<ProgressFacts>,
    expected: string | undefined,
  ][] = [
    ['a set was made', undefined, { note: 'created' }, 'True NewReplicaSetCreated'],
    ['a set was there', undefined, { note: 'found' }, 'True FoundNewReplicaSet'],
    ['all is done', condition('ReplicaSetUpdated'), { status: done }, 'True NewReplicaSetAvailable'],
    [
      'more are ready',
      condition('NewReplicaSetCreated'),
      { status: { replicas: 2, updatedReplicas: 1, readyReplicas: 1 } },
      'True ReplicaSetUpdated',
    ],
    ['nothing moves', condition('ReplicaSetUpdated'), {}, 'True ReplicaSetUpdated'],
    [
      'nothing has moved for too long',
      condition('ReplicaSetUpdated', 'True', 10),
      {},
      'False ProgressDeadlineExceeded',
    ],
    [
      'late, but it moves again',
      condition('ProgressDeadlineExceeded', 'False', 30),
      { status: { replicas: 2, updatedReplicas: 2 } },
      'True ReplicaSetUpdated',
    ],
    [
      'a Pod of a finished roll fails',
      condition('NewReplicaSetAvailable', 'True', 900),
      { status: { replicas: 2, updatedReplicas: 2, availableReplicas: 1 } },
      'True NewReplicaSetAvailable',
    ],
    [
      'it is paused',
      condition('ReplicaSetUpdated'),
      { spec: { replicas: 2, progressDeadlineSeconds: 600, paused: true } },
      'Unknown DeploymentPaused',
    ],
    [
      'paused for longer than the deadline',
      condition('DeploymentPaused', 'Unknown', 900),
      { spec: { replicas: 2, progressDeadlineSeconds: 600, paused: true } },
      'Unknown DeploymentPaused',
    ],
    ['it goes on', condition('DeploymentPaused', 'Unknown', 900), {}, 'Unknown DeploymentResumed'],
    [
      'there is no deadline',
      condition('ReplicaSetUpdated'),
      { spec: { replicas: 2, progressDeadlineSeconds: 2 ** 31 - 1 } },
      undefined,
    ],
  ];
  for (const [what, old, more, expected] of table)
    it(what, () => {
      const conditions = old ? [old] : [];
      const given = facts(more);
      const next = progressing({
        conditions: withProgress(conditions, { ...given, before: { ...given.before, conditions } }),
      });
      assert.equal(next && `${next.status} ${next.reason}`, expected);
    });

  it('keeps lastTransitionTime until the status changes, and lastUpdateTime until it is renewed', () => {
    const old = [condition('ReplicaSetUpdated')];
    const said = { status: 'True', reason: 'ReplicaSetUpdated', message: 'x' };
    assert.deepEqual(withCondition(old, 'Progressing', said, now), old);
    const [renewed] = withCondition(old, 'Progressing', { ...said, renew: true }, now);
    assert.deepEqual([renewed?.lastUpdateTime, renewed?.lastTransitionTime], [at(0), at(60)]);
    const [changed] = withCondition(old, 'Progressing', { ...said, status: 'False' }, now);
    assert.deepEqual([changed?.lastUpdateTime, changed?.lastTransitionTime], [at(0), at(0)]);
  });
});
