import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { annotations, labels, labelValues, type MacFleet, macFleet, machine } from '@tartan/api';
import { getCondition, isKubeError } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { createHarness, deployments, namespace } from './testing/harness.ts';
import { kstatusOf } from './testing/kstatus.ts';

const reasonOf = ({ status }: MacFleet, type: string) => getCondition(status?.conditions, type)?.reason;
const statusOf = ({ status }: MacFleet, type: string) => getCondition(status?.conditions, type)?.status;

const four = ['mac-a', 'mac-b', 'mac-c', 'mac-d'] as const;

const begin = async (t: TestContext, { managers = 1, maxUnavailable = 2 } = {}) => {
  const stage = await createHarness(t);
  for (const name of four) await stage.addMachine(name);
  for (let count = 0; count < managers; count += 1) await stage.start();
  await stage.setSpec({ maxUnavailable });
  return { ...stage, fleet: () => stage.fleetOf('runners') };
};

test('machines without a MacFleet get one, of which kstatus can tell that it is fine', async (t) => {
  const stage = await begin(t);
  const fleet = await stage.fleet();
  assert.equal(fleet.metadata.labels?.[labels.managedBy], labelValues.managedBy);
  assert.equal(fleet.metadata.ownerReferences, undefined);
  assert.equal(fleet.spec.gateDeadlineSeconds, 900);
  assert.equal(fleet.status?.observedGeneration, fleet.metadata.generation);
  const { desired, existing, ready, updated, revision, turns, turnOf } = fleet.status ?? {};
  assert.deepEqual(
    [desired, existing, ready, updated, revision, turns, turnOf],
    [0, 4, 4, 4, 'r1', undefined, undefined],
  );
  assert.deepEqual(
    [reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling'), reasonOf(fleet, 'Stalled')],
    ['UpToDate', 'UpToDate', 'NotStalled'],
  );
  assert.equal(statusOf(fleet, 'Ready'), 'True');
  assert.deepEqual(stage.eventReasons, []);
});

test('one canary, then up to maxUnavailable at a time, until all are updated; one event each (INC-11, INC-12)', async (t) => {
  const stage = await begin(t);
  await stage.release('r2', ...four);
  const rolling = await stage.fleet();
  assert.equal(rolling.status?.turnOf, 'mac-a (canary)');
  assert.deepEqual([reasonOf(rolling, 'Ready'), reasonOf(rolling, 'Rolling')], ['Rolling', 'Canary']);
  const waves: string[][] = [];
  for (let wave = await stage.push(); wave.length > 0; wave = await stage.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-a'], ['mac-b', 'mac-c'], ['mac-d']]);
  const fleet = await stage.fleet();
  assert.equal(statusOf(fleet, 'Ready'), 'True');
  assert.equal(fleet.status?.provenRevision, 'r2');
  assert.deepEqual(stage.eventReasons, ['RollStarted', 'RollFinished']);
  const writes = stage.codes.length;
  await stage.pass(60);
  assert.equal(stage.codes.length, writes, 'nothing is written when nothing happens');
});

test('two managers that both believe to lead share one budget, and emit each event once', async (t) => {
  const stage = await begin(t, { managers: 2 });
  await stage.release('r2', ...four);
  const waves: string[][] = [];
  for (let wave = await stage.push(); wave.length > 0; wave = await stage.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-a'], ['mac-b', 'mac-c'], ['mac-d']]);
  assert.ok(stage.codes.includes(409), 'they did meet');
  assert.deepEqual(stage.eventReasons, ['RollStarted', 'RollFinished']);
});

test('a manager that froze after its read grants no turn on top of those granted meanwhile', async (t) => {
  const stage = await begin(t);
  const thaw = Promise.withResolvers<void>();
  let frozen = false;
  await stage.start((send) => async (request) => {
    const answer = await send(request);
    const isLookAtMachines = request.method === 'GET' && /machines(\?(?!.*watch)|$)/.test(request.path);
    if (frozen && isLookAtMachines) await thaw.promise;
    return answer;
  });
  frozen = true;
  await stage.release('r2', ...four);
  assert.deepEqual(await stage.push(), ['mac-a']);
  assert.deepEqual(await stage.turnsOf(), ['mac-b', 'mac-c']);
  thaw.resolve();
  frozen = false;
  await stage.settle();
  assert.ok(stage.codes.includes(409));
  assert.deepEqual(await stage.turnsOf(), ['mac-b', 'mac-c']);
});

test('an upgrade is done when the new manager says so, and not before: the old one cannot fail it either', async (t) => {
  const stage = await createHarness(t);
  for (const name of four) await stage.addMachine(name, { fleetName: 'runners' }, { plannedBy: 'old' });
  await stage.start(undefined, 'old');
  await stage.setSpec({ maxUnavailable: 4, releaseID: 'old' });
  const found = async () => {
    const fleet = await stage.fleetOf('runners');
    return [kstatusOf(fleet), reasonOf(fleet, 'Ready')];
  };
  assert.deepEqual(await found(), ['Current', 'UpToDate']);
  // What helm does first: the fleet names the manager of the new release.
  await stage.setSpec({ releaseID: 'new' });
  assert.deepEqual(await found(), ['InProgress', 'WaitingForManager']);
  await stage.start(undefined, 'new');
  await stage.pass(1);
  assert.deepEqual(await found(), ['InProgress', 'WaitingForManager'], 'it has not looked at any machine');
  for (const name of four) await stage.setStatus(name, { plannedBy: 'new', desiredHostConfigHash: `${name}-r2` });
  await stage.release('r2');
  await stage.pass(1);
  assert.deepEqual(await found(), ['InProgress', 'Rolling'], 'the old one still believes to lead, and is contradicted');
  for (let wave = await stage.push(); wave.length > 0; wave = await stage.push()) await stage.pass(1);
  await stage.pass(1);
  assert.deepEqual(await found(), ['Current', 'UpToDate']);
});

test('a Mac that refuses stops the roll, until there is something else to roll', async (t) => {
  const stage = await begin(t);
  await stage.release('r2', ...four);
  const at = timestamp(stage.clock.now());
  await stage.setStatus('mac-a', {
    failedHostConfigHash: 'mac-a-r2',
    lastAttempt: { task: 'Update', outcome: 'Rejected', message: 'Step agent: no space left.', at, count: 5 },
    lastUpdateFailureTime: at,
  });
  await stage.pass(20);
  const fleet = await stage.fleet();
  assert.deepEqual(await stage.turnsOf(), []);
  assert.equal(fleet.status?.stalledRevision, 'r2');
  const stalled = getCondition(fleet.status.conditions, 'Stalled');
  assert.deepEqual([stalled?.status, stalled?.reason], ['True', 'PushRejected']);
  assert.match(
    stalled?.message ?? '',
    /^mac-a refused: Step agent: no space left\. Revision r2\. It is tried again at /,
  );
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['Stalled', 'Stalled']);
  assert.deepEqual(stage.eventReasons, ['RollStarted', 'RollStopped']);

  await stage.release('r3', ...four);
  const next = await stage.fleet();
  assert.equal(statusOf(next, 'Stalled'), 'False');
  assert.equal(next.status?.stop, undefined);
  assert.deepEqual(await stage.turnsOf(), ['mac-b'], 'the one that refused does not go first again');
  assert.deepEqual(stage.eventReasons, ['RollStarted', 'RollStopped', 'RollStarted']);
});

test('a Mac that does not come back in time is rolled back, and tried again after a while', async (t) => {
  const stage = await begin(t);
  await stage.release('r2', ...four);
  await stage.setReady('mac-a', false);
  assert.deepEqual(await stage.push(), ['mac-a']);
  await stage.pass(14);
  assert.equal(reasonOf(await stage.fleet(), 'Rolling'), 'Canary');
  await stage.pass(2);
  const fleet = await stage.fleet();
  assert.equal(reasonOf(fleet, 'Stalled'), 'GateDeadlineExceeded');
  assert.equal(fleet.status?.turns?.[0]?.rollBack, true);
  assert.equal(fleet.status.turnOf, 'mac-a (rolls back)');

  const lastUpdateFailureTime = timestamp(stage.clock.now());
  await stage.setStatus('mac-a', {
    failedHostConfigHash: 'mac-a-r2',
    lastUpdateFailureTime,
    hostConfigHash: 'mac-a-r1',
  });
  await stage.setReady('mac-a', true);
  await stage.pass(25);
  assert.deepEqual(await stage.turnsOf(), []);
  assert.equal(statusOf(await stage.fleet(), 'Stalled'), 'True');
  await stage.pass(6);
  assert.equal(statusOf(await stage.fleet(), 'Stalled'), 'False');
  assert.deepEqual(await stage.turnsOf(), ['mac-b'], 'one alone, and another one first');
});

test('a fleet with the annotation of Cluster API gives no turns either', async (t) => {
  const stage = await begin(t);
  const annotate = async (value: '' | null) => {
    const body = { metadata: { annotations: { [annotations.paused]: value } } };
    await stage.client.patch(macFleet.resource, { namespace, name: 'runners' }, { type: 'merge', body });
    await stage.settle();
  };
  await annotate('');
  await stage.release('r2', ...four);
  assert.deepEqual(await stage.turnsOf(), []);
  assert.equal(reasonOf(await stage.fleet(), 'Ready'), 'Paused');
  await annotate(null);
  assert.deepEqual(await stage.turnsOf(), ['mac-a']);
});

test('a paused fleet grants no turns; machines that have one finish', async (t) => {
  const stage = await begin(t);
  await stage.release('r2', ...four);
  await stage.setSpec({ paused: true });
  assert.deepEqual(await stage.push(), ['mac-a']);
  const fleet = await stage.fleet();
  assert.deepEqual(await stage.turnsOf(), []);
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['Paused', 'Paused']);
  assert.equal(fleet.status?.observedGeneration, fleet.metadata.generation);
  await stage.setSpec({ paused: false });
  assert.deepEqual(await stage.turnsOf(), ['mac-b', 'mac-c']);
  assert.deepEqual(stage.eventReasons, ['RollStarted']);
});

test('its release can pause a fleet, too', async (t) => {
  const stage = await begin(t);
  await stage.setSpec({ pausedByRelease: true });
  await stage.release('r2', ...four);
  assert.deepEqual([await stage.turnsOf(), reasonOf(await stage.fleet(), 'Ready')], [[], 'Paused']);
  await stage.setSpec({ pausedByRelease: false });
  assert.deepEqual(await stage.turnsOf(), ['mac-a']);
});

test('a machine that is not Ready gets no turn and does not block the roll (INC-12)', async (t) => {
  const stage = await begin(t);
  await stage.setReady('mac-a', false);
  await stage.release('r2', ...four);
  const waves: string[][] = [];
  for (let wave = await stage.push(); wave.length > 0; wave = await stage.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-b'], ['mac-c', 'mac-d']]);
  const fleet = await stage.fleet();
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['MachinesNotReady', 'WaitingForMachines']);
  assert.match(getCondition(fleet.status?.conditions, 'Ready')?.message ?? '', /Not Ready: mac-a\.$/);
  await stage.setReady('mac-a', true);
  await stage.settle();
  assert.deepEqual(await stage.push(), ['mac-a']);
  assert.deepEqual(stage.eventReasons, ['RollStarted', 'RollFinished']);
});

test("the hash on a Ready Node wins over the hash in the machine's status", async (t) => {
  const stage = await begin(t);
  await stage.report('mac-a', 'mac-a-r0');
  assert.deepEqual(await stage.turnsOf(), ['mac-a']);
  await stage.report('mac-a', 'mac-a-r1');
  assert.deepEqual(await stage.turnsOf(), []);
  await stage.setReady('mac-b', false);
  await stage.report('mac-b', 'mac-b-r0');
  assert.deepEqual(await stage.turnsOf(), []);
});

test('what is wanted is what MachineDeployments of the fleet ask for', async (t) => {
  const stage = await begin(t);
  const add = (name: string, fleet: string, replicas?: number) =>
    stage.client.create(deployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name, namespace, labels: { [labels.fleet]: fleet } },
      spec: replicas === undefined ? {} : { replicas },
    });
  await add('one', 'runners', 4);
  await add('two', 'runners');
  await add('other', 'builders', 3);
  await stage.settle();
  const fleet = await stage.fleet();
  assert.equal(fleet.status?.desired, 5);
  assert.equal(reasonOf(fleet, 'Ready'), 'MachinesMissing');
  assert.equal((await stage.fleetOf('builders')).status?.desired, 3, 'a fleet without machines is missing some');
});

test('a fleet that we made goes with its last machine; one that somebody made stays', async (t) => {
  const stage = await begin(t);
  const made = macFleet.make({ metadata: { name: 'kept', namespace }, spec: { maxUnavailable: 3 } });
  await stage.client.create(macFleet.resource, made);
  await stage.addMachine('mac-k', { fleetName: 'kept' });
  for (const name of [...four, 'mac-k']) await stage.client.delete(machine.resource, { namespace, name });
  await stage.settle();
  await assert.rejects(stage.fleet(), (error) => isKubeError(error, 'notFound'));
  assert.equal((await stage.fleetOf('kept')).status?.existing, 0);
});

test('a machine that names no fleet is one of its own', async (t) => {
  const stage = await createHarness(t);
  await stage.addMachine('lonely', {});
  await stage.start();
  await stage.release('r2', 'lonely');
  assert.deepEqual(await stage.turnsOf('lonely'), ['lonely']);
});

test('a fleet whose name no object can have is not tried over and over', async (t) => {
  const stage = await createHarness(t);
  await stage.addMachine('odd', { fleetName: 'Not A Name' });
  await stage.start();
  await stage.pass(5);
  assert.deepEqual(stage.creates, [422]);
});

test('two managers make one MacFleet', async (t) => {
  const stage = await createHarness(t);
  await Promise.all([stage.start(), stage.start()]);
  await stage.addMachine('mac-a');
  await stage.settle();
  assert.deepEqual(new Set(stage.creates), new Set([201, 409]));
  assert.equal((await stage.fleetOf('runners')).status?.existing, 1);
});

test('a MacFleet that somebody deletes comes back', async (t) => {
  const stage = await begin(t);
  await stage.client.delete(macFleet.resource, { namespace, name: 'runners' });
  await stage.settle();
  assert.equal((await stage.fleet()).status?.existing, 4);
});

describe('spec.replicas', () => {
  const key = { namespace, name: 'runners' };
  const scaled = async (t: TestContext, managers = 1) => {
    const stage = await createHarness(t);
    for (let count = 0; count < managers; count += 1) await stage.start();
    await stage.client.create(deployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { ...key, labels: { [labels.fleet]: 'runners' } },
      spec: { replicas: 8 },
    });
    await stage.client.create(macFleet.resource, macFleet.make({ metadata: key, spec: { replicas: 8 } }));
    await stage.settle();
    const number = async () => (await stage.client.get(deployments, key)).spec?.replicas;
    const scale = async (replicas: number) => {
      await stage.client.patch(deployments, key, { type: 'merge', body: { spec: { replicas } } });
      await stage.settle();
    };
    return { ...stage, number, scale };
  };

  test('is written when it changes, and what somebody else sets stays', async (t) => {
    const stage = await scaled(t);
    await stage.scale(10);
    await stage.setSpec({ maxUnavailable: 3 });
    assert.equal(await stage.number(), 10);
    await stage.setSpec({ replicas: 9 });
    await stage.pass(1);
    assert.equal(await stage.number(), 9);
    assert.deepEqual(stage.eventReasons, ['Scaled']);
    assert.match(stage.messages[0] ?? '', /runners: from 10 to 9\.$/);
    await stage.scale(3);
    await stage.pass(5);
    assert.equal(await stage.number(), 3);
  });

  test('is written once by two managers', async (t) => {
    const stage = await scaled(t, 2);
    await stage.setSpec({ replicas: 9 });
    await stage.pass(1);
    assert.equal(await stage.number(), 9);
    assert.deepEqual(stage.eventReasons, ['Scaled']);
  });

  test('is not written by a manager that froze before the write, when another one wrote it and somebody scaled since', async (t) => {
    const thaw = Promise.withResolvers<void>();
    let frozen = false;
    const stage = await scaled(t, 0);
    await stage.start((send) => async (request) => {
      if (frozen && request.method === 'PATCH' && request.path.includes('machinedeployments')) await thaw.promise;
      return send(request);
    });
    frozen = true;
    await stage.setSpec({ replicas: 9 });
    assert.equal(await stage.number(), 8);
    await stage.start();
    await stage.settle();
    assert.equal(await stage.number(), 9);
    await stage.scale(12);
    frozen = false;
    thaw.resolve();
    await stage.settle();
    assert.equal(await stage.number(), 12);
    assert.deepEqual(stage.eventReasons, ['Scaled']);
  });

  test('is not written again by the next manager, after a crash or not', async (t) => {
    const stage = await scaled(t);
    await stage.setSpec({ replicas: 9 });
    await stage.pass(1);
    await stage.scale(12);
    await stage.start();
    await stage.pass(1);
    assert.equal(await stage.number(), 12, 'the record is in the MachineDeployment');
  });

  test('sizes that were for the webhook alone are removed as soon as helm has written them', async (t) => {
    const stage = await scaled(t);
    const sizes = { [annotations.autoscalerMinSize]: '8', [annotations.autoscalerMaxSize]: '8' };
    const notes = { ...sizes, [annotations.heldReplicas]: '8', [annotations.helmRelease]: 'tartan' };
    await stage.client.patch(deployments, key, { type: 'merge', body: { metadata: { annotations: notes } } });
    await stage.settle();
    const { metadata, spec } = await stage.client.get(deployments, key);
    assert.deepEqual(metadata.annotations, {
      [annotations.appliedReplicas]: '8',
      [annotations.helmRelease]: 'tartan',
    });
    assert.equal(spec?.replicas, 8);
  });

  test('keeps the fleet not Ready until it is written, also with waitForMacs false', async (t) => {
    const stage = await scaled(t);
    await stage.setSpec({ replicas: 8, waitForMacs: false });
    assert.equal(kstatusOf(await stage.fleetOf('runners')), 'Current');
    let refused = 0;
    stage.refuse(({ method, path }) => method === 'PATCH' && /machinedeployments/.test(path) && (refused += 1) <= 2);
    await stage.setSpec({ replicas: 9 });
    assert.equal(reasonOf(await stage.fleetOf('runners'), 'Ready'), 'WaitingForMachineDeployment');
    assert.equal(kstatusOf(await stage.fleetOf('runners')), 'InProgress');
    await stage.pass(2);
    assert.equal(await stage.number(), 9);
    assert.equal(kstatusOf(await stage.fleetOf('runners')), 'Current');
  });
});
