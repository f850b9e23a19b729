import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, labels, type LastAttempt, machine, type MachineStatus } from '@tartan/api';
import type { Live, ObjectMeta } from '@tartan/kube';
import { type CoreCluster, desiredReplicas } from '../core/kinds.ts';
import type { Node } from '../controller-deps.ts';
import { machineFacts } from './observe.ts';
import { ago, now } from './testing/fixtures.ts';

const identity = { uid: 'u', resourceVersion: '1', creationTimestamp: ago(60) };
const providerID = 'scw-applesilicon://fr-par-1/one';

const pausedCluster: Live<CoreCluster> = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'paused', ...identity },
  spec: { paused: true },
};

const facts = (status: MachineStatus, node?: Live<Node>, metadata: ObjectMeta = {}) => {
  const made = machine.make({ metadata: { name: 'mac-a', ...metadata }, spec: { providerID } });
  return machineFacts({ ...made, metadata: { name: 'mac-a', ...identity, ...metadata }, status }, node, {
    now: 0,
    retryAfterMs: 1,
    clusters: { get: (key) => (key === 'macs/paused' ? pausedCluster : undefined) },
  });
};

const nodeWith = (hash: string, { ready = true, of = providerID } = {}): Live<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mac-a', ...identity, annotations: { [annotations.hostConfigHash]: hash } },
  spec: { providerID: of },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: ago(0) }] },
});

const after = (outcome: LastAttempt['outcome'], message: string, node?: Live<Node>) =>
  facts({ lastAttempt: { task: 'Update', outcome, message, at: ago(1), count: 0 } }, node);

describe('machineFacts', () => {
  it('a new machine has no facts', () => {
    const { provisioned, ready, desired, actual, attempts, paused } = facts({});
    assert.deepEqual(
      [provisioned, ready, desired, actual, attempts, paused],
      [false, false, undefined, undefined, 0, false],
    );
  });

  it('the hash on the Node wins over the hash in status', () => {
    const status = { hostConfigHash: 'noted' };
    assert.equal(facts(status, nodeWith('said')).actual, 'said');
    assert.equal(facts(status, nodeWith('said')).pushed, 'noted');
    assert.equal(facts(status).actual, 'noted');
    assert.equal(
      facts(status, nodeWith('said', { ready: false })).actual,
      'noted',
      'an agent that is down says what was',
    );
    assert.equal(facts(status, nodeWith('said', { of: 'scw-applesilicon://fr-par-1/two' })).actual, 'noted');
  });

  it('a machine with an omitted optional step counts as up to date', () => {
    const leftOut = { desired: 'wanted', actual: 'less', message: 'no', at: '1970-01-01T00:00:00Z' };
    const status = { desiredHostConfigHash: 'wanted', leftOut };
    assert.equal(facts(status, nodeWith('less')).actual, 'wanted');
    assert.equal(facts(status, nodeWith('other')).actual, 'other');
  });

  it('notReadySince comes from the Node', () => {
    const status = { initialization: { provisioned: true } };
    const notReady = facts(status, nodeWith('said', { ready: false }));
    assert.deepEqual([notReady.ready, notReady.notReadySince], [false, now]);
    const ready = facts(status, nodeWith('said'));
    assert.deepEqual([ready.ready, ready.notReadySince], [true, undefined]);
    assert.equal(facts({}, nodeWith('said')).ready, false, 'its Mac was never bootstrapped');
    assert.equal(facts(status, nodeWith('said', { of: 'scw-applesilicon://fr-par-1/two' })).ready, false);
  });

  it('unreachableAt, waitingForIdle and failureMessage come from the last attempt', () => {
    const cordoned = nodeWith('said');
    cordoned.spec = { ...cordoned.spec, unschedulable: true };
    const unreachable = after('HostUnreachable', 'No route.', cordoned);
    const waiting = after('WaitingForIdle', '', cordoned);
    assert.deepEqual([unreachable.unreachableAt, waiting.unreachableAt], [Date.parse(ago(1)), undefined]);
    assert.deepEqual([unreachable.waitingForIdle, waiting.waitingForIdle], [false, true]);
    assert.equal(after('WaitingForIdle', '', nodeWith('said')).waitingForIdle, false, 'its turn is over');
    assert.deepEqual([unreachable.failureMessage, after('Succeeded', '').failureMessage], ['No route.', undefined]);
  });

  it('a machine is paused by its annotation, whatever the value, or by its Cluster', () => {
    assert.equal(facts({}, undefined, { annotations: { [annotations.paused]: '' } }).paused, true);
    assert.equal(facts({}, undefined, { namespace: 'macs', labels: { [labels.clusterName]: 'paused' } }).paused, true);
    assert.equal(facts({}, undefined, { namespace: 'macs', labels: { [labels.clusterName]: 'other' } }).paused, false);
  });
});

describe('the desired replicas of a MachineDeployment', () => {
  for (const [name, deployment, replicas] of [
    ['a number', { spec: { replicas: 3 } }, 3],
    ['none', { spec: { replicas: 0 } }, 0],
    ['what core would fill in', {}, 1],
    ['nothing, when it goes', { spec: { replicas: 3 }, metadata: { deletionTimestamp: ago(0) } }, 0],
  ] as const)
    it(name, () => {
      assert.equal(desiredReplicas(deployment), replicas);
    });
});
