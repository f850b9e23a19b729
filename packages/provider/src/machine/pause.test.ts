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

const setPaused = async (harness: Harness, paused: boolean): Promise<void> => {
  await harness.client.patch(clusters, clusterName, { type: 'merge', body: { spec: { paused } } });
};
const annotate = (harness: Harness, paused: '' | null): Promise<void> =>
  harness.patchMachine({ metadata: { annotations: { [annotations.paused]: paused } } });

/** A machine of a Cluster, with a Mac and a Node that is Ready. */
const livingInCluster = async (t: TestContext): Promise<Harness> => {
  const harness = await createHarness(t);
  await harness.client.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: clusterName,
    spec: {},
  });
  const body = { status: { initialization: { infrastructureProvisioned: true } } };
  await harness.client.patch(clusters, clusterName, { type: 'merge', body }, { subresource: 'status' });
  await harness.start();
  await harness.addHost();
  await harness.addMachine({}, ofTheCluster);
  await harness.rename();
  await harness.addNode();
  return harness;
};

/** Runs once, right before the given request is sent. */
const rightBefore = (harness: Harness, method: string, path: RegExp, happen: () => Promise<unknown>): void => {
  let happened = false;
  harness.interpose((send) => async (request) => {
    if (!happened && request.method === method && path.test(request.path.split('?')[0] ?? '')) {
      happened = true;
      await harness.meanwhile(happen);
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
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    await harness.addMachine({}, { annotations: { [annotations.paused]: '' } });
    await harness.pass(2);
    assert.deepEqual((await harness.get()).metadata.finalizers, undefined);
    assert.equal(await harness.reason('Paused'), 'Paused');
  });

  it('keeps its Mac when deleted, reports it, and releases it after the pause', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await annotate(harness, '');
    await harness.deleteMachine();
    await harness.pass(10);
    assert.equal((await harness.host()).spec.release, undefined);
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    assert.ok(await harness.node());
    assert.ok(await harness.secret());
    assert.equal(await harness.reason('Paused'), 'Paused');
    await annotate(harness, null);
    assert.equal((await harness.host()).spec.release?.reason, 'MachineDeleted');
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
  });

  it('keeps its Mac when its Cluster is paused, also after a restart of the manager', async (t) => {
    const harness = await livingInCluster(t);
    await setPaused(harness, true);
    await harness.deleteMachine();
    await harness.pass(10);
    await harness.restart();
    await harness.pass(10);
    assert.equal((await harness.host()).spec.release, undefined);
    assert.match((await harness.condition('Paused'))?.message ?? '', /spec\.paused/);
    await setPaused(harness, false);
    await harness.settle();
    assert.deepEqual((await harness.host()).spec.release?.machine, {
      namespace,
      name: 'mac-1',
      uid: (await harness.get()).metadata.uid,
      cluster: 'macs',
    });
  });

  it('is removed without a wipe when somebody removes the finalizer, as clusterctl move does', async (t) => {
    const harness = await livingInCluster(t);
    await setPaused(harness, true);
    await harness.deleteMachine();
    await harness.patchMachine({ metadata: { finalizers: null } });
    await harness.pass(10);
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal((await harness.host()).spec.release, undefined);
  });

  it('does not get its finalizer back between its removal and the deletion', async (t) => {
    const harness = await livingInCluster(t);
    await setPaused(harness, true);
    await harness.patchMachine({ metadata: { finalizers: null } });
    await harness.pass(10);
    assert.equal((await harness.get()).metadata.finalizers, undefined);
  });

  for (const [who, pause] of [
    ['its Cluster', (harness: Harness) => setPaused(harness, true)],
    ['the machine', (harness: Harness) => annotate(harness, '')],
  ] as const)
    it(`keeps its Mac when ${who} is paused during the reconcile that would release it`, async (t) => {
      const harness = await livingInCluster(t);
      // The second read of the MacHost is that of the release: by then the pass has decided.
      let looks = 0;
      harness.interpose((send) => async (request) => {
        if (request.method === 'GET' && request.path.endsWith('machosts/server-1')) {
          looks += 1;
          if (looks === 1) await harness.meanwhile(() => pause(harness));
        }
        return send(request);
      });
      await harness.deleteMachine();
      await harness.pass(2);
      assert.ok(looks > 0);
      assert.equal((await harness.host()).spec.release, undefined);
      assert.equal(await harness.reason('Paused'), 'Paused');
    });

  it('is checked with a live read of the Cluster right before the release', async (t) => {
    const harness = await livingInCluster(t);
    rightBefore(harness, 'GET', /clusters\/macs$/, () => setPaused(harness, true));
    await harness.deleteMachine();
    await harness.pass(1);
    assert.equal((await harness.host()).spec.release, undefined);
  });

  it('gets no finalizer when its Cluster was just paused', async (t) => {
    const harness = await createHarness(t);
    await harness.client.create(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: clusterName,
      spec: {},
    });
    await harness.start();
    rightBefore(harness, 'GET', /clusters\/macs$/, () => setPaused(harness, true));
    await harness.addMachine({}, ofTheCluster);
    await harness.pass(1);
    assert.equal(await harness.reason('Paused'), 'Paused');
    assert.equal((await harness.get()).metadata.finalizers, undefined);
  });

  it('gets no push; a running push is cancelled and continues after the pause', async (t) => {
    const harness = await livingInCluster(t);
    harness.work.next(untilEnded);
    await harness.release('agent-2');
    await harness.giveTurn();
    assert.equal(harness.work.jobs.length, 2, 'the bootstrap, and the push of the roll');
    await setPaused(harness, true);
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, 2);
    assert.equal(await harness.reason('Paused'), 'Paused');
    await setPaused(harness, false);
    await harness.settle();
    assert.equal(harness.work.jobs.length, 3);
  });

  it('gets no push when it is paused between the decision and the push', async (t) => {
    const harness = await livingInCluster(t);
    await harness.release('agent-2');
    rightBefore(harness, 'GET', /macfleets\/runners$/, () => setPaused(harness, true));
    await harness.giveTurn();
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, 1, 'the bootstrap alone');
  });

  it('keeps a Mac that was found unwiped during the pause', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addHost();
    harness.work.next(async () => {
      await harness.meanwhile(() => annotate(harness, ''));
      return { kind: 'not wiped', message: 'old', hostKey: 'SHA256:old' };
    });
    await harness.addMachine();
    await harness.rename();
    await harness.pass(10);
    assert.equal((await harness.host()).spec.release, undefined);
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
  });
});
