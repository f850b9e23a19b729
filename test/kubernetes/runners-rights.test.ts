import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { annotations, finalizers, runnerPool } from '@tartan/api';
import { events, ignoreNotFound, pods, secrets, serviceAccounts } from '@tartan/kube';
import { runnersRBACRules } from '@tartan/runners';
import {
  deniedCalls,
  formatCall,
  singleRights,
  unusedRights,
} from '../../packages/provider/src/manager/testing/rbac-calls.ts';
import { appSecret, fleet, namespace, type PreparedCluster, preparedCluster } from './runners-rights/harness.ts';

const name = { namespace, name: 'macos' };
const merge = (body: object) => ({ type: 'merge', body }) as const;

describe('the runners controller on a real API server, with the roles of the chart', () => {
  let cluster: PreparedCluster;
  before(async () => {
    cluster = await preparedCluster();
  });
  after(() => cluster.close());
  const table = () => singleRights(runnersRBACRules(cluster.options));

  const pool = () => cluster.client.get(runnerPool.resource, name);
  const status = async () => (await pool()).status;
  const podsOf = async () => (await cluster.client.list(pods, { namespace })).items;
  const until = (holds: () => Promise<boolean>): Promise<true> =>
    cluster.untilSeen(async () => ((await holds()) ? true : undefined));

  test('a pool works from its first runner to its deletion, and no request is forbidden', async () => {
    const { client, github } = cluster;
    const replicas = 6;
    await client.create(
      runnerPool.resource,
      runnerPool.make({
        metadata: name,
        spec: {
          replicas,
          image: 'runner',
          fleetSelector: fleet,
          podCPUMilli: 1000,
          podMemoryMB: 1024,
          github: { organization: 'acme', appSecretName: appSecret },
        },
      }),
    );
    await until(async () => (await status())?.warm === replicas);
    assert.deepEqual((await pool()).metadata.finalizers, [finalizers.runnerPool]);
    const registered = (await podsOf()).map(({ metadata }) => metadata.annotations?.[annotations.runnerID]);
    assert.deepEqual(
      registered.map(String).toSorted(),
      github
        .runners()
        .map(({ id }) => String(id))
        .toSorted(),
    );

    // So many that events are counted instead of created.
    const labels = ['self-hosted', 'macOS', 'ARM64'];
    for (let job = 0; job < 2 * replicas; job += 1) github.queueJob({ repository: 'acme/app', labels });
    await until(async () => (await status())?.reaped === 2 * replicas);
    await until(async () => (await status())?.warm === replicas);
    const jobs = github.jobs();
    assert.deepEqual(new Set(jobs.map(({ conclusion }) => conclusion)), new Set(['success']));

    await client.patch(runnerPool.resource, name, merge({ spec: { replicas: 1 } }));
    await until(async () => (await podsOf()).length === 1 && (await status())?.warm === 1);
    assert.equal(github.runners().length, 1);

    await client.delete(runnerPool.resource, name);
    await until(async () => (await ignoreNotFound(pool())) === undefined);
    await until(async () => (await podsOf()).length === 0);
    await until(async () => github.runners().length === 0);
    const left = await client.list(serviceAccounts, { namespace, labelSelector: 'tuist.dev/runner-pool' });
    assert.deepEqual(left.items, []);
    await until(async () =>
      (await client.list(secrets, { namespace })).items.every(({ metadata }) => metadata.name === appSecret),
    );
    assert.ok((await client.list(events, { namespace })).items.length > 0);

    await cluster.stopController();
    const { body } = await cluster.metrics.text();
    assert.match(body, /^rest_client_requests_total\{code="201"/m);
    assert.doesNotMatch(body, /^rest_client_requests_total\{code="403"/m, cluster.complaints());
    assert.equal(cluster.complaints(), '');
  });

  test('sends no request that is not in the table', () => {
    assert.deepEqual(deniedCalls(cluster.calls(), table()).map(formatCall), []);
  });

  test('has no unused right', () => {
    assert.deepEqual(unusedRights(cluster.calls(), table()).map(formatCall), []);
  });
});
