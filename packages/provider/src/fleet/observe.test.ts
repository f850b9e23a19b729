import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, buildCondition, machine, type MachineStatus } from '@tartan/api';
import { type ConditionUpdate, type Live, type ObjectMeta, setCondition } from '@tartan/kube';
import { desiredReplicas } from '../core/machine-deployment.ts';
import { machineFacts, type Node } from './observe.ts';
import { ago, now } from './testing/fixtures.ts';

const identity = { uid: 'u', resourceVersion: '1', creationTimestamp: ago(60) };
const providerID = 'scw-applesilicon://fr-par-1/one';

const facts = (status: MachineStatus, node?: Live<Node>, metadata: ObjectMeta = {}) => {
  const made = machine.make({ metadata: { name: 'mac-a', ...metadata }, spec: { providerID } });
  return machineFacts({ ...made, metadata: { name: 'mac-a', ...identity, ...metadata }, status }, node, {
    now: 0,
    retryAfterMs: 1,
  });
};

const nodeWith = (hash: string, { ready = true, of = providerID } = {}): Live<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mac-a', ...identity, annotations: { [annotations.hostConfigHash]: hash } },
  spec: { providerID: of },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

const withCondition = (update: ConditionUpdate): MachineStatus => ({ conditions: setCondition([], update, now) });
const upToDate = (reason: 'RollUnreachable' | 'WaitingForIdle' | 'UpToDate', message?: string) =>
  facts(withCondition(buildCondition('ScalewayAppleSiliconMachine', 'HostUpToDate', reason, message)));

describe('machineFacts', () => {
  it('nothing, of a new one', () => {
    const { provisioned, ready, desired, actual, attempts, paused } = facts({});
    assert.deepEqual(
      [provisioned, ready, desired, actual, attempts, paused],
      [false, false, undefined, undefined, 0, false],
    );
  });

  it('the hash on the Node wins over the one in status', () => {
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

  it('a step that is left out counts as up to date', () => {
    const leftOut = { desired: 'wanted', actual: 'less', message: 'no', at: '1970-01-01T00:00:00Z' };
    const status = { desiredHostConfigHash: 'wanted', leftOut };
    assert.equal(facts(status, nodeWith('less')).actual, 'wanted');
    assert.equal(facts(status, nodeWith('other')).actual, 'other');
  });

  it('since when it is not Ready', () => {
    const notReady = facts(withCondition(buildCondition('ScalewayAppleSiliconMachine', 'Ready', 'NodeNotReady')));
    assert.deepEqual([notReady.ready, notReady.notReadySince], [false, now]);
    const ready = facts(withCondition(buildCondition('ScalewayAppleSiliconMachine', 'Ready', 'Ready')));
    assert.deepEqual([ready.ready, ready.notReadySince], [true, undefined]);
  });

  it('why it does not have what it shall have', () => {
    assert.deepEqual([upToDate('RollUnreachable').unreachable, upToDate('WaitingForIdle').unreachable], [true, false]);
    assert.deepEqual(
      [upToDate('RollUnreachable').waitingForIdle, upToDate('WaitingForIdle').waitingForIdle],
      [false, true],
    );
    assert.equal(upToDate('RollUnreachable', 'No route.').failureMessage, 'No route.');
    assert.equal(upToDate('UpToDate').failureMessage, undefined);
  });

  it('that somebody has paused it, whatever the value', () => {
    assert.equal(facts({}, undefined, { annotations: { [annotations.paused]: '' } }).paused, true);
    assert.equal(
      facts(withCondition(buildCondition('ScalewayAppleSiliconMachine', 'Paused', 'Paused'))).paused,
      true,
      'its cluster',
    );
    assert.equal(
      facts(withCondition(buildCondition('ScalewayAppleSiliconMachine', 'Paused', 'NotPaused'))).paused,
      false,
    );
  });
});

describe('what a MachineDeployment asks for', () => {
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
