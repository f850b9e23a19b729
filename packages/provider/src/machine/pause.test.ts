import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, labels } from '@tartan/api';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { clusters, createHarness, type Harness, namespace } from './testing/harness.ts';

const clusterName = { namespace, name: 'macs' };
const ofTheCluster = {
  labels: { [labels.clusterName]: clusterName.name },
  ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'mac-1', uid: 'u-1' }],
};

const setPaused = async (stage: Harness, paused: boolean): Promise<void> => {
  await stage.client.patch(clusters, clusterName, { type: 'merge', body: { spec: { paused } } });
};
const annotate = (stage: Harness, paused: '' | null): Promise<void> =>
  stage.patchMachine({ metadata: { annotations: { [annotations.paused]: paused } } });

/** A machine of a Cluster, with a Mac and a Node that is Ready. */
const livingInCluster = async (t: TestContext): Promise<Harness> => {
  const stage = await createHarness(t);
  await stage.client.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: clusterName,
    spec: {},
  });
  const body = { status: { initialization: { infrastructureProvisioned: true } } };
  await stage.client.patch(clusters, clusterName, { type: 'merge', body }, { subresource: 'status' });
  await stage.start();
  await stage.addHost();
  await stage.addMachine({}, ofTheCluster);
  await stage.rename();
  await stage.addNode();
  return stage;
};

/** Runs once, right before the given request is sent. */
const rightBefore = (stage: Harness, method: string, path: RegExp, happen: () => Promise<unknown>): void => {
  let happened = false;
  stage.interpose((send) => async (request) => {
    if (!happened && request.method === method && path.test(request.path.split('?')[0] ?? '')) {
      happened = true;
      await stage.meanwhile(happen);
    }
    return send(request);
  });
};

/** A push that ends only by its signal. */
const untilEnded = (_job: unknown, signal: AbortSignal): Promise<WorkOutcome> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
  });

describe('a paused machine', () => {
  it('gets no finalizer', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine({}, { annotations: { [annotations.paused]: '' } });
    await stage.pass(2);
    assert.deepEqual((await stage.get()).metadata.finalizers, undefined);
    assert.equal(await stage.reason('Paused'), 'Paused');
  });

  it('keeps its Mac when deleted, reports it, and releases it after the pause', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await annotate(stage, '');
    await stage.deleteMachine();
    await stage.pass(10);
    assert.equal((await stage.host()).spec.release, undefined);
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
    assert.ok(await stage.node());
    assert.ok(await stage.secret());
    assert.equal(await stage.reason('Paused'), 'Paused');
    await annotate(stage, null);
    assert.equal((await stage.host()).spec.release?.reason, 'MachineDeleted');
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
  });

  it('keeps its Mac when its Cluster is paused, also after a restart of the manager', async (t) => {
    const stage = await livingInCluster(t);
    await setPaused(stage, true);
    await stage.deleteMachine();
    await stage.pass(10);
    await stage.restart();
    await stage.pass(10);
    assert.equal((await stage.host()).spec.release, undefined);
    assert.match((await stage.condition('Paused'))?.message ?? '', /spec\.paused/);
    await setPaused(stage, false);
    await stage.settle();
    assert.deepEqual((await stage.host()).spec.release?.machine, {
      namespace,
      name: 'mac-1',
      uid: (await stage.get()).metadata.uid,
      cluster: 'macs',
    });
  });

  it('is removed without a wipe when somebody removes the finalizer, as clusterctl move does', async (t) => {
    const stage = await livingInCluster(t);
    await setPaused(stage, true);
    await stage.deleteMachine();
    await stage.patchMachine({ metadata: { finalizers: null } });
    await stage.pass(10);
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal((await stage.host()).spec.release, undefined);
  });

  it('does not get its finalizer back between its removal and the deletion', async (t) => {
    const stage = await livingInCluster(t);
    await setPaused(stage, true);
    await stage.patchMachine({ metadata: { finalizers: null } });
    await stage.pass(10);
    assert.equal((await stage.get()).metadata.finalizers, undefined);
  });

  for (const [who, pause] of [
    ['its Cluster', (stage: Harness) => setPaused(stage, true)],
    ['the machine', (stage: Harness) => annotate(stage, '')],
  ] as const)
    it(`keeps its Mac when ${who} is paused while the pass that would release it is under way`, async (t) => {
      const stage = await livingInCluster(t);
      // The second read of the MacHost is that of the release: by then the pass has decided.
      let looks = 0;
      stage.interpose((send) => async (request) => {
        if (request.method === 'GET' && request.path.endsWith('machosts/server-1')) {
          looks += 1;
          if (looks === 1) await stage.meanwhile(() => pause(stage));
        }
        return send(request);
      });
      await stage.deleteMachine();
      await stage.pass(2);
      assert.ok(looks > 0);
      assert.equal((await stage.host()).spec.release, undefined);
      assert.equal(await stage.reason('Paused'), 'Paused');
    });

  it('is checked with a live read of the Cluster right before the release', async (t) => {
    const stage = await livingInCluster(t);
    rightBefore(stage, 'GET', /clusters\/macs$/, () => setPaused(stage, true));
    await stage.deleteMachine();
    await stage.pass(1);
    assert.equal((await stage.host()).spec.release, undefined);
  });

  it('gets no finalizer when its Cluster was just paused', async (t) => {
    const stage = await createHarness(t);
    await stage.client.create(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: clusterName,
      spec: {},
    });
    await stage.start();
    rightBefore(stage, 'GET', /clusters\/macs$/, () => setPaused(stage, true));
    await stage.addMachine({}, ofTheCluster);
    await stage.pass(1);
    assert.equal(await stage.reason('Paused'), 'Paused');
    assert.equal((await stage.get()).metadata.finalizers, undefined);
  });

  it('gets no push; a running push is cancelled and continues after the pause', async (t) => {
    const stage = await livingInCluster(t);
    stage.work.next(untilEnded);
    await stage.release('agent-2');
    await stage.giveTurn();
    assert.equal(stage.work.jobs.length, 2, 'the bootstrap, and the push of the roll');
    await setPaused(stage, true);
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, 2);
    assert.equal(await stage.reason('Paused'), 'Paused');
    await setPaused(stage, false);
    await stage.settle();
    assert.equal(stage.work.jobs.length, 3);
  });

  it('gets no push when it is paused between the decision and the push', async (t) => {
    const stage = await livingInCluster(t);
    await stage.release('agent-2');
    rightBefore(stage, 'GET', /macfleets\/runners$/, () => setPaused(stage, true));
    await stage.giveTurn();
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, 1, 'the bootstrap alone');
  });

  it('keeps a Mac that was found unwiped during the pause', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.addHost();
    stage.work.next(async () => {
      await stage.meanwhile(() => annotate(stage, ''));
      return { kind: 'not wiped', message: 'old', hostKey: 'SHA256:old' };
    });
    await stage.addMachine();
    await stage.rename();
    await stage.pass(10);
    assert.equal((await stage.host()).spec.release, undefined);
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
  });
});
