import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { finalizers, labels, machine, runnerMetricNames, runnerPool, type RunnerPool } from '@tartan/api';
import { getCondition, type Live, nodes, pods, serviceAccounts } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import {
  coreKinds,
  deploymentOf,
  freePort,
  poolName,
  queueJob,
  runnerImage,
  type SimulatedRunners,
} from '@tartan/sim-fleet';
import type { FakeRunnerOptions, JobRecord } from '@tartan/sim-github';
import { type Harness, type Machine, namespace, startHarness } from './harness.ts';
import { withAgentPaused } from './processes.ts';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;
type Status = Partial<NonNullable<RunnerPool['status']>>;

/** Finished Pods that are not removed: as many as in the incident. */
const stuckPods = 504;

describe('no job is killed, whatever happens to its runner pool', { timeout: 400_000 }, () => {
  let harness: Harness;
  let ci: SimulatedRunners;
  let metrics: string;
  let machines: readonly Machine[];
  const queued: JobRecord[] = [];
  /** Jobs that have begun in a guest, and the function that ends each. */
  const atWork = new Map<number, () => void>();
  const pool = { namespace, name: poolName };

  const work: FakeRunnerOptions['work'] = ({ id }, signal) =>
    new Promise((resolve) => {
      atWork.set(id, () => resolve('success'));
      signal.addEventListener('abort', () => resolve('failure'), { once: true });
    });

  before(async () => {
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    const flags = [`--metrics-bind-address=127.0.0.1:${port}`, '--stuck-after-seconds=10'];
    harness = await startHarness({ pool: 2, fleets: { macos: 0, runners: 2 }, runners: { flags, work } });
    assert(harness.runners);
    ci = harness.runners;
    machines = await harness.readyMachines(2);
  });
  after(() => harness.stop());

  const poolIs = (
    what: string,
    holds: (status: Status, pool: Live<RunnerPool>) => boolean,
  ): Promise<Live<RunnerPool>> =>
    harness.waitFor(runnerPool.resource, poolName, what, (seen) => holds(seen.status ?? {}, seen));
  const change = (spec: object): Promise<unknown> =>
    harness.client.patch(runnerPool.resource, pool, { type: 'merge', body: { spec } });
  const runnerPods = async (): Promise<Pod[]> =>
    (await harness.client.list(pods, { namespace, labelSelector: `${labels.runnerPool}=${poolName}` })).items;
  const podsOn = async (node: string): Promise<string[]> =>
    (await runnerPods())
      .filter(({ spec }) => spec?.nodeName === node)
      .map(({ metadata }) => metadata.name)
      .sort();
  const look = (holds: () => boolean | Promise<boolean>) =>
    Promise.race([harness.failure, eventually('jobs and runners are as expected', holds)]);
  /** Jobs, once each has begun in a guest, and the names of their Pods. None ends before the test ends it. */
  const begin = async (count: number): Promise<{ jobs: JobRecord[]; on: string[] }> => {
    const jobs = Array.from({ length: count }, () => queueJob(ci.github));
    queued.push(...jobs);
    await look(() => jobs.every(({ id }) => atWork.has(id)));
    return { jobs, on: jobs.map(({ runner }) => runner?.name ?? '') };
  };
  const end = async (jobs: readonly JobRecord[]): Promise<void> => {
    for (const { id } of jobs) atWork.get(id)?.();
    await look(() => jobs.every(({ status }) => status === 'completed'));
    assert.deepEqual(
      jobs.map(({ conclusion }) => conclusion),
      jobs.map(() => 'success'),
    );
    assert.deepEqual(ci.github.lostJobs(), []);
  };

  test('a pool fills the Macs of its fleet with warm runners, each registered at GitHub', async () => {
    const warm = await poolIs('is warm', ({ warm: count }) => count === 4);
    assert.equal(getCondition(warm.status?.conditions, 'Ready')?.reason, 'Converged');
    const names = (await runnerPods()).map(({ metadata }) => metadata.name).sort();
    await look(() => ci.github.runners().filter(({ isOnline }) => isOnline).length === 4);
    assert.deepEqual(
      ci.github
        .runners()
        .map(({ name }) => name)
        .sort(),
      names,
    );
  });

  test('each job is run by one runner, whose Pod is then recorded, deleted and replaced', async () => {
    const { jobs, on } = await begin(2);
    await poolIs('knows who is busy', ({ busy }) => busy === 2);
    await end(jobs);
    const { status } = await poolIs('is warm again', ({ warm, reaped }) => warm === 4 && reaped === 2);
    assert.deepEqual(
      (status?.finished ?? []).map(({ name, hadJob, exitCode }) => `${name} ${hadJob} ${exitCode}`).toSorted(),
      on.map((name) => `${name} true 0`).toSorted(),
    );
  });

  test('a new image is rolled out while jobs run: idle runners are replaced, and those with a job finish it first', async () => {
    const { jobs } = await begin(2);
    await change({ image: runnerImage(2) });
    await poolIs('has replaced whoever is idle', ({ stale, warm }) => stale === 2 && warm === 2);
    await end(jobs);
    await poolIs('is rolled', ({ stale, warm }) => stale === 0 && warm === 4);
    for (const { spec } of await runnerPods()) assert.equal(spec?.containers?.[0]?.image, runnerImage(2));
  });

  test('a cordoned Mac retires idle runners at once, and is empty after its job', async () => {
    const { jobs, on } = await begin(1);
    const node = (await runnerPods()).find(({ metadata }) => on.includes(metadata.name))?.spec?.nodeName ?? '';
    const cordon = (unschedulable: boolean): Promise<unknown> =>
      harness.client.patch(nodes, { name: node }, { type: 'merge', body: { spec: { unschedulable } } });
    await cordon(true);
    await look(async () => (await podsOn(node)).join() === on.join());
    await end(jobs);
    await look(async () => (await podsOn(node)).length === 0);
    await cordon(false);
    await poolIs('is warm on both', ({ warm }) => warm === 4);
  });

  test('a pool that is scaled down retires idle runners, and keeps those with a job', async () => {
    const { jobs, on } = await begin(2);
    await change({ replicas: 1 });
    await poolIs('has only busy ones', ({ replicas, busy }) => replicas === 2 && busy === 2);
    assert.deepEqual(
      (await runnerPods())
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
        .sort(),
      on.toSorted(),
    );
    await end(jobs);
    await poolIs('has one', ({ replicas, warm }) => replicas === 1 && warm === 1);
    await change({ replicas: 4 });
    await poolIs('is warm again', ({ warm }) => warm === 4);
  });

  const ended = async (index: number, nodeName: string, owner: Live<RunnerPool>): Promise<string> => {
    const name = `${poolName}-runner-ended${index}`;
    await harness.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name,
        labels: { [labels.runner]: 'true', [labels.runnerPool]: poolName },
        finalizers: [finalizers.vmCleanup],
        ownerReferences: [
          {
            apiVersion: 'tuist.dev/v1alpha1',
            kind: 'RunnerPool',
            name: poolName,
            uid: owner.metadata.uid,
            controller: true,
          },
        ],
      },
      spec: { nodeName, restartPolicy: 'Never', containers: [{ name: 'runner', image: runnerImage(2) }] },
    });
    const body = { status: { phase: 'Succeeded' } };
    await harness.client.patch(pods, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    return name;
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(metrics)).text();
    return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  test('finished Pods that a stopped agent cannot delete are counted, reaped once, and deleted when the agent is back', async () => {
    const owner = await poolIs('is warm', ({ warm }) => warm === 4);
    const before = owner.status?.reaped ?? 0;
    const [mac] = machines;
    assert(mac);
    const names: string[] = [];
    await withAgentPaused(harness.macOf(mac), async () => {
      for (let index = 0; index < stuckPods; index += 1) names.push(await ended(index, mac.metadata.name, owner));
      const { status } = await poolIs('says that they are stuck', ({ stuck }) => stuck === stuckPods);
      assert.equal(getCondition(status?.conditions, 'Stuck')?.reason, 'PodsStuckTerminating');
      assert.equal(status?.reaped, before + stuckPods);
      assert.ok((await metric(runnerMetricNames.oldestTerminatingSeconds)) >= 10);
      const held = (await runnerPods()).filter(({ metadata }) => names.includes(metadata.name));
      assert.ok(held.length === stuckPods && held.every(({ metadata }) => metadata.deletionTimestamp !== undefined));
    });
    for (const name of names) await harness.waitUntilGone(pods, name);
    const { status } = await poolIs('has none that is stuck', ({ stuck }) => stuck === 0);
    assert.equal(status?.reaped, before + stuckPods);
    assert.equal(await metric(runnerMetricNames.oldestTerminatingSeconds), 0);
  });

  test('the Mac of a machine deleted during jobs is released after they are done, not before', async () => {
    const { jobs, on } = await begin(3);
    const fleet = { namespace, name: deploymentOf('runners') };
    await harness.client.patch(coreKinds.machineDeployments, fleet, { type: 'merge', body: { spec: { replicas: 1 } } });
    let leaving: Machine | undefined;
    await look(async () => {
      leaving = (await harness.machines()).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
      const owners = (await harness.client.list(coreKinds.machines, { namespace })).items;
      leaving ??= (await harness.machines()).find(({ metadata }) =>
        owners.some((owner) => owner.metadata.name === metadata.name && owner.metadata.deletionTimestamp !== undefined),
      );
      return leaving !== undefined;
    });
    const name = leaving?.metadata.name ?? '';
    const busyThere = (await runnerPods()).filter(
      ({ metadata, spec }) => spec?.nodeName === name && on.includes(metadata.name),
    );
    await harness.waitFor(nodes, name, 'is cordoned', ({ spec }) => spec?.unschedulable === true);
    await look(
      async () =>
        (await podsOn(name)).join() ===
        busyThere
          .map(({ metadata }) => metadata.name)
          .sort()
          .join(),
    );
    assert.ok(busyThere.length > 0);
    await end(jobs);
    await harness.waitUntilGone(machine.resource, name);
    await change({ replicas: 2 });
    await poolIs('is warm on the other', ({ warm, replicas }) => warm === 2 && replicas === 2);
  });

  test('a pool deleted during jobs exists until they are done, and leaves nothing behind', async () => {
    const { jobs, on } = await begin(1);
    await harness.client.delete(runnerPool.resource, pool);
    await look(async () => (await runnerPods()).map(({ metadata }) => metadata.name).join() === on.join());
    await end(jobs);
    await harness.waitUntilGone(runnerPool.resource, poolName);
    await look(async () => (await runnerPods()).length === 0);
    await look(async () => {
      const { items } = await harness.client.list(serviceAccounts, { namespace });
      return items.every(({ metadata }) => !metadata.name.startsWith(`${poolName}-runner-`));
    });
    await look(() => ci.github.runners().length === 0);
  });

  test('no job was lost, and none ran twice', () => {
    assert.deepEqual(ci.github.lostJobs(), []);
    assert.ok(queued.every(({ conclusion }) => conclusion === 'success'));
    const begun = ci.github.history.filter(({ type: what }) => what === 'job started').length;
    assert.equal(begun, queued.length);
  });
});
