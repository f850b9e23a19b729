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
  const harness = await createHarness(t);
  for (const name of four) await harness.addMachine(name);
  for (let count = 0; count < managers; count += 1) await harness.start();
  await harness.setSpec({ maxUnavailable });
  return { ...harness, fleet: () => harness.fleetOf('runners') };
};

test('machines without a MacFleet get one, whose kstatus is Current', async (t) => {
  const harness = await begin(t);
  const fleet = await harness.fleet();
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
  assert.deepEqual(harness.eventReasons, []);
});

test('one canary is updated first, then up to maxUnavailable at a time until all are updated; each emits one event (INC-11, INC-12)', async (t) => {
  const harness = await begin(t);
  await harness.release('r2', ...four);
  const rolling = await harness.fleet();
  assert.equal(rolling.status?.turnOf, 'mac-a (canary)');
  assert.deepEqual([reasonOf(rolling, 'Ready'), reasonOf(rolling, 'Rolling')], ['Rolling', 'Canary']);
  const waves: string[][] = [];
  for (let wave = await harness.push(); wave.length > 0; wave = await harness.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-a'], ['mac-b', 'mac-c'], ['mac-d']]);
  const fleet = await harness.fleet();
  assert.equal(statusOf(fleet, 'Ready'), 'True');
  assert.equal(fleet.status?.provenRevision, 'r2');
  assert.deepEqual(harness.eventReasons, ['RollStarted', 'RollFinished']);
  const writes = harness.codes.length;
  await harness.pass(60);
  assert.equal(harness.codes.length, writes, 'nothing is written when nothing happens');
});

test('two managers that both believe they lead share one budget, and emit each event once', async (t) => {
  const harness = await begin(t, { managers: 2 });
  await harness.release('r2', ...four);
  const waves: string[][] = [];
  for (let wave = await harness.push(); wave.length > 0; wave = await harness.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-a'], ['mac-b', 'mac-c'], ['mac-d']]);
  assert.ok(harness.codes.includes(409), 'they did meet');
  assert.deepEqual(harness.eventReasons, ['RollStarted', 'RollFinished']);
});

test('a manager that was frozen after its read grants no turn beyond those granted meanwhile', async (t) => {
  const harness = await begin(t);
  const thaw = Promise.withResolvers<void>();
  let frozen = false;
  await harness.start((send) => async (request) => {
    const answer = await send(request);
    const isLookAtMachines = request.method === 'GET' && /machines(\?(?!.*watch)|$)/.test(request.path);
    if (frozen && isLookAtMachines) await thaw.promise;
    return answer;
  });
  frozen = true;
  await harness.release('r2', ...four);
  assert.deepEqual(await harness.push(), ['mac-a']);
  assert.deepEqual(await harness.turnsOf(), ['mac-b', 'mac-c']);
  thaw.resolve();
  frozen = false;
  await harness.settle();
  assert.ok(harness.codes.includes(409));
  assert.deepEqual(await harness.turnsOf(), ['mac-b', 'mac-c']);
});

test('a manager whose cache of machines is outdated ends no turn and proves no revision', async (t) => {
  const harness = await begin(t);
  const { items } = await harness.client.list(machine.resource, { namespace });
  await harness.start(undefined, undefined, items);
  await harness.release('r2', ...four);
  await harness.pass(1);
  const { status } = await harness.fleetOf('runners');
  assert.deepEqual(
    status?.turns?.map(({ machine: holder, canary }) => [holder, canary]),
    [['mac-a', true]],
  );
  assert.notEqual(status.provenRevision, 'r2');
});

for (const size of [50, 500])
  test(`a pass costs no request while nothing is to be rolled, and a turn a constant number: ${size} machines`, async (t) => {
    const harness = await createHarness(t);
    const names = Array.from({ length: size }, (_, index) => `mac-${String(index).padStart(3, '0')}`);
    for (const name of names) await harness.addMachine(name);
    await harness.start();
    await harness.settle();
    harness.requests.length = 0;
    await harness.setStatus('mac-007', { phase: 'Updating' });
    await harness.report('mac-007', 'mac-007-r1');
    assert.deepEqual(harness.requests, []);
    await harness.release('r2', 'mac-007');
    assert.deepEqual(await harness.turnsOf(), ['mac-007']);
    assert.deepEqual(harness.requests, ['GET runners', 'GET mac-007', 'PATCH status?fieldValidation=Strict']);
  });

test('only the new manager reports an upgrade as done or failed, never the old one', async (t) => {
  const harness = await createHarness(t);
  for (const name of four) await harness.addMachine(name, { fleetName: 'runners' }, { plannedBy: 'old' });
  await harness.start(undefined, 'old');
  await harness.setSpec({ maxUnavailable: 4, releaseID: 'old' });
  const found = async () => {
    const fleet = await harness.fleetOf('runners');
    return [kstatusOf(fleet), reasonOf(fleet, 'Ready')];
  };
  assert.deepEqual(await found(), ['Current', 'UpToDate']);
  // What helm does first: the fleet names the manager of the new release.
  await harness.setSpec({ releaseID: 'new' });
  assert.deepEqual(await found(), ['InProgress', 'WaitingForManager']);
  await harness.start(undefined, 'new');
  await harness.pass(1);
  assert.deepEqual(await found(), ['InProgress', 'WaitingForManager'], 'it has not looked at any machine');
  for (const name of four) await harness.setStatus(name, { plannedBy: 'new', desiredHostConfigHash: `${name}-r2` });
  await harness.release('r2');
  await harness.pass(1);
  assert.deepEqual(await found(), ['InProgress', 'Rolling'], 'the old one still believes to lead, and is contradicted');
  for (let wave = await harness.push(); wave.length > 0; wave = await harness.push()) await harness.pass(1);
  await harness.pass(1);
  assert.deepEqual(await found(), ['Current', 'UpToDate']);
});

test('a Mac that rejects an update stops the roll until another revision is desired', async (t) => {
  const harness = await begin(t);
  await harness.release('r2', ...four);
  const at = timestamp(harness.clock.now());
  await harness.setStatus('mac-a', {
    failedHostConfigHash: 'mac-a-r2',
    lastAttempt: { task: 'Update', outcome: 'Rejected', message: 'Step agent: no space left.', at, count: 5 },
    lastUpdateFailureTime: at,
  });
  await harness.pass(20);
  const fleet = await harness.fleet();
  assert.deepEqual(await harness.turnsOf(), []);
  assert.equal(fleet.status?.stalledRevision, 'r2');
  const stalled = getCondition(fleet.status.conditions, 'Stalled');
  assert.deepEqual([stalled?.status, stalled?.reason], ['True', 'PushRejected']);
  assert.match(
    stalled?.message ?? '',
    /^mac-a refused: Step agent: no space left\. Revision r2\. It is tried again at /,
  );
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['Stalled', 'Stalled']);
  assert.deepEqual(harness.eventReasons, ['RollStarted', 'RollStopped']);

  await harness.release('r3', ...four);
  const next = await harness.fleet();
  assert.equal(statusOf(next, 'Stalled'), 'False');
  assert.equal(next.status?.stop, undefined);
  assert.deepEqual(await harness.turnsOf(), ['mac-b'], 'the one that refused does not go first again');
  assert.deepEqual(harness.eventReasons, ['RollStarted', 'RollStopped', 'RollStarted']);
});

test('a Mac that does not come back in time is rolled back, and retried later', async (t) => {
  const harness = await begin(t);
  await harness.release('r2', ...four);
  await harness.setReady('mac-a', false);
  assert.deepEqual(await harness.push(), ['mac-a']);
  await harness.pass(14);
  assert.equal(reasonOf(await harness.fleet(), 'Rolling'), 'Canary');
  await harness.pass(2);
  const fleet = await harness.fleet();
  assert.equal(reasonOf(fleet, 'Stalled'), 'GateDeadlineExceeded');
  assert.equal(fleet.status?.turns?.[0]?.rollBack, true);
  assert.equal(fleet.status.turnOf, 'mac-a (rolls back)');

  const lastUpdateFailureTime = timestamp(harness.clock.now());
  await harness.setStatus('mac-a', {
    failedHostConfigHash: 'mac-a-r2',
    lastUpdateFailureTime,
    hostConfigHash: 'mac-a-r1',
  });
  await harness.setReady('mac-a', true);
  await harness.pass(25);
  assert.deepEqual(await harness.turnsOf(), []);
  assert.equal(statusOf(await harness.fleet(), 'Stalled'), 'True');
  await harness.pass(6);
  assert.equal(statusOf(await harness.fleet(), 'Stalled'), 'False');
  assert.deepEqual(await harness.turnsOf(), ['mac-b'], 'one alone, and another one first');
});

test('a fleet with the paused annotation of Cluster API grants no turns', async (t) => {
  const harness = await begin(t);
  const annotate = async (value: '' | null) => {
    const body = { metadata: { annotations: { [annotations.paused]: value } } };
    await harness.client.patch(macFleet.resource, { namespace, name: 'runners' }, { type: 'merge', body });
    await harness.settle();
  };
  await annotate('');
  await harness.release('r2', ...four);
  assert.deepEqual(await harness.turnsOf(), []);
  assert.equal(reasonOf(await harness.fleet(), 'Ready'), 'Paused');
  await annotate(null);
  assert.deepEqual(await harness.turnsOf(), ['mac-a']);
});

test('a paused fleet grants no turns; machines that have one finish', async (t) => {
  const harness = await begin(t);
  await harness.release('r2', ...four);
  await harness.setSpec({ paused: true });
  assert.deepEqual(await harness.push(), ['mac-a']);
  const fleet = await harness.fleet();
  assert.deepEqual(await harness.turnsOf(), []);
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['Paused', 'Paused']);
  assert.equal(fleet.status?.observedGeneration, fleet.metadata.generation);
  await harness.setSpec({ paused: false });
  assert.deepEqual(await harness.turnsOf(), ['mac-b', 'mac-c']);
  assert.deepEqual(harness.eventReasons, ['RollStarted']);
});

test('a Helm release can pause a fleet', async (t) => {
  const harness = await begin(t);
  await harness.setSpec({ pausedByRelease: true });
  await harness.release('r2', ...four);
  assert.deepEqual([await harness.turnsOf(), reasonOf(await harness.fleet(), 'Ready')], [[], 'Paused']);
  await harness.setSpec({ pausedByRelease: false });
  assert.deepEqual(await harness.turnsOf(), ['mac-a']);
});

test('a machine that is not Ready gets no turn, counts as unavailable, and does not block the roll while the budget allows another one (INC-12)', async (t) => {
  const harness = await begin(t, { maxUnavailable: 3 });
  await harness.setReady('mac-a', false);
  await harness.release('r2', ...four);
  const waves: string[][] = [];
  for (let wave = await harness.push(); wave.length > 0; wave = await harness.push()) waves.push(wave);
  assert.deepEqual(waves, [['mac-b'], ['mac-c', 'mac-d']]);
  const fleet = await harness.fleet();
  assert.deepEqual([reasonOf(fleet, 'Ready'), reasonOf(fleet, 'Rolling')], ['MachinesNotReady', 'WaitingForMachines']);
  assert.match(getCondition(fleet.status?.conditions, 'Ready')?.message ?? '', /Not Ready: mac-a\.$/);
  await harness.setReady('mac-a', true);
  await harness.settle();
  assert.deepEqual(await harness.push(), ['mac-a']);
  assert.deepEqual(harness.eventReasons, ['RollStarted', 'RollFinished']);
});

test('Macs that are not Ready block the roll when they are maxUnavailable, until one is Ready or its machine is paused', async (t) => {
  const harness = await begin(t, { maxUnavailable: 1 });
  await harness.setReady('mac-a', false);
  await harness.release('r2', ...four);
  const blocked = await harness.fleetOf('runners');
  assert.deepEqual(await harness.turnsOf(), []);
  assert.equal(reasonOf(blocked, 'Rolling'), 'MaxUnavailableReached');
  assert.match(
    getCondition(blocked.status?.conditions, 'Rolling')?.message ?? '',
    /Not available: mac-a; spec\.maxUnavailable is 1\. Repair/,
  );
  const body = { metadata: { annotations: { [annotations.paused]: '' } } };
  await harness.client.patch(machine.resource, { namespace, name: 'mac-a' }, { type: 'merge', body });
  await harness.settle();
  assert.deepEqual(await harness.turnsOf(), ['mac-b']);
});

test("the hash on a Ready Node wins over the hash in the machine's status", async (t) => {
  const harness = await begin(t);
  await harness.report('mac-a', 'mac-a-r0');
  assert.deepEqual(await harness.turnsOf(), ['mac-a']);
  await harness.report('mac-a', 'mac-a-r1');
  assert.deepEqual(await harness.turnsOf(), []);
  await harness.setReady('mac-b', false);
  await harness.report('mac-b', 'mac-b-r0');
  assert.deepEqual(await harness.turnsOf(), []);
});

test('the desired number of machines is the sum over the MachineDeployments of the fleet', async (t) => {
  const harness = await begin(t);
  const add = (name: string, fleet: string, replicas?: number) =>
    harness.client.create(deployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name, namespace, labels: { [labels.fleet]: fleet } },
      spec: replicas === undefined ? {} : { replicas },
    });
  await add('one', 'runners', 4);
  await add('two', 'runners');
  await add('other', 'builders', 3);
  await harness.settle();
  const fleet = await harness.fleet();
  assert.equal(fleet.status?.desired, 5);
  assert.equal(reasonOf(fleet, 'Ready'), 'MachinesMissing');
  assert.equal((await harness.fleetOf('builders')).status?.desired, 3, 'a fleet without machines is missing some');
});

test('a MacFleet created by the manager is deleted with its last machine; one created by a user is kept', async (t) => {
  const harness = await begin(t);
  const made = macFleet.make({ metadata: { name: 'kept', namespace }, spec: { maxUnavailable: 3 } });
  await harness.client.create(macFleet.resource, made);
  await harness.addMachine('mac-k', { fleetName: 'kept' });
  for (const name of [...four, 'mac-k']) await harness.client.delete(machine.resource, { namespace, name });
  await harness.settle();
  await assert.rejects(harness.fleet(), (error) => isKubeError(error, 'notFound'));
  assert.equal((await harness.fleetOf('kept')).status?.existing, 0);
});

test('a machine without fleetName is a fleet of its own', async (t) => {
  const harness = await createHarness(t);
  await harness.addMachine('lonely', {});
  await harness.start();
  await harness.release('r2', 'lonely');
  assert.deepEqual(await harness.turnsOf('lonely'), ['lonely']);
});

test('a fleet name that is no valid object name is not retried', async (t) => {
  const harness = await createHarness(t);
  await harness.addMachine('odd', { fleetName: 'Not A Name' });
  await harness.start();
  await harness.pass(5);
  assert.deepEqual(harness.creates, [422]);
});

test('two managers create one MacFleet', async (t) => {
  const harness = await createHarness(t);
  await Promise.all([harness.start(), harness.start()]);
  await harness.addMachine('mac-a');
  await harness.settle();
  assert.deepEqual(new Set(harness.creates), new Set([201, 409]));
  assert.equal((await harness.fleetOf('runners')).status?.existing, 1);
});

test('a deleted MacFleet is created again', async (t) => {
  const harness = await begin(t);
  await harness.client.delete(macFleet.resource, { namespace, name: 'runners' });
  await harness.settle();
  assert.equal((await harness.fleet()).status?.existing, 4);
});

describe('spec.replicas', () => {
  const key = { namespace, name: 'runners' };
  const scaled = async (t: TestContext, managers = 1) => {
    const harness = await createHarness(t);
    for (let count = 0; count < managers; count += 1) await harness.start();
    await harness.client.create(deployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { ...key, labels: { [labels.fleet]: 'runners' } },
      spec: { replicas: 8 },
    });
    await harness.client.create(macFleet.resource, macFleet.make({ metadata: key, spec: { replicas: 8 } }));
    await harness.settle();
    const number = async () => (await harness.client.get(deployments, key)).spec?.replicas;
    const scale = async (replicas: number) => {
      await harness.client.patch(deployments, key, { type: 'merge', body: { spec: { replicas } } });
      await harness.settle();
    };
    return { ...harness, number, scale };
  };

  test('is written when it changes, and keeps a scale by somebody else', async (t) => {
    const harness = await scaled(t);
    await harness.scale(10);
    await harness.setSpec({ maxUnavailable: 3 });
    assert.equal(await harness.number(), 10);
    await harness.setSpec({ replicas: 9 });
    await harness.pass(1);
    assert.equal(await harness.number(), 9);
    assert.deepEqual(harness.eventReasons, ['Scaled']);
    assert.match(harness.messages[0] ?? '', /runners: from 10 to 9\.$/);
    await harness.scale(3);
    await harness.pass(5);
    assert.equal(await harness.number(), 3);
  });

  test('is written once by two managers', async (t) => {
    const harness = await scaled(t, 2);
    await harness.setSpec({ replicas: 9 });
    await harness.pass(1);
    assert.equal(await harness.number(), 9);
    assert.deepEqual(harness.eventReasons, ['Scaled']);
  });

  test('is not written by a manager that was frozen before the write, if another manager wrote it and somebody scaled since', async (t) => {
    const thaw = Promise.withResolvers<void>();
    let frozen = false;
    const harness = await scaled(t, 0);
    await harness.start((send) => async (request) => {
      if (frozen && request.method === 'PATCH' && request.path.includes('machinedeployments')) await thaw.promise;
      return send(request);
    });
    frozen = true;
    await harness.setSpec({ replicas: 9 });
    assert.equal(await harness.number(), 8);
    await harness.start();
    await harness.settle();
    assert.equal(await harness.number(), 9);
    await harness.scale(12);
    frozen = false;
    thaw.resolve();
    await harness.settle();
    assert.equal(await harness.number(), 12);
    assert.deepEqual(harness.eventReasons, ['Scaled']);
  });

  test('is not written again by the next manager, with or without a crash', async (t) => {
    const harness = await scaled(t);
    await harness.setSpec({ replicas: 9 });
    await harness.pass(1);
    await harness.scale(12);
    await harness.start();
    await harness.pass(1);
    assert.equal(await harness.number(), 12, 'the record is in the MachineDeployment');
  });

  test('the autoscaler sizes for the webhook are removed after helm has written them', async (t) => {
    const harness = await scaled(t);
    const sizes = { [annotations.autoscalerMinSize]: '8', [annotations.autoscalerMaxSize]: '8' };
    const notes = { ...sizes, [annotations.heldReplicas]: '8', [annotations.helmRelease]: 'tartan' };
    await harness.client.patch(deployments, key, { type: 'merge', body: { metadata: { annotations: notes } } });
    await harness.settle();
    const { metadata, spec } = await harness.client.get(deployments, key);
    assert.deepEqual(metadata.annotations, {
      [annotations.appliedReplicas]: '8',
      [annotations.helmRelease]: 'tartan',
    });
    assert.equal(spec?.replicas, 8);
  });

  test('keeps the fleet not Ready until it is written, also with waitForMacs false', async (t) => {
    const harness = await scaled(t);
    await harness.setSpec({ replicas: 8, waitForMacs: false });
    assert.equal(kstatusOf(await harness.fleetOf('runners')), 'Current');
    let refused = 0;
    harness.refuse(({ method, path }) => method === 'PATCH' && /machinedeployments/.test(path) && (refused += 1) <= 2);
    await harness.setSpec({ replicas: 9 });
    assert.equal(reasonOf(await harness.fleetOf('runners'), 'Ready'), 'WaitingForMachineDeployment');
    assert.equal(kstatusOf(await harness.fleetOf('runners')), 'InProgress');
    await harness.pass(2);
    assert.equal(await harness.number(), 9);
    assert.equal(kstatusOf(await harness.fleetOf('runners')), 'Current');
  });
});
