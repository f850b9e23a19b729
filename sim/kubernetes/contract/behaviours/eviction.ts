import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';

const evict = (name: string, deleteOptions?: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...(deleteOptions ? { deleteOptions } : {}),
});

const onNode = { nodeName: 'ghost', tolerations: [{ operator: 'Exists' }] };

export const eviction = topic('eviction', [
  behaviour('an eviction deletes the Pod gracefully and sets a condition with the reason', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a', onNode));
    const answer = await context.post(`${pods}/a/eviction`, evict('a'));
    assert.equal(answer.code, 201);
    assert.deepEqual(answer.json, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const evicted = await context.fetch(`${pods}/a`);
    assert.ok(evicted.metadata.deletionTimestamp);
    assert.equal(evicted.metadata.deletionGracePeriodSeconds, 30);
    const condition = readList(evicted, 'status.conditions').find((each) => read(each, 'type') === 'DisruptionTarget');
    includes(condition, { status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' });
  }),

  behaviour('its delete options set the grace period', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a', onNode));
    await context.create(`${pods}/a/eviction`, evict('a', { gracePeriodSeconds: 3 }));
    includes(await context.fetch(`${pods}/a`), { metadata: { deletionGracePeriodSeconds: 3 } });
  }),

  behaviour('a dry run evicts nothing', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a', onNode));
    await context.create(`${pods}/a/eviction`, evict('a', { dryRun: ['All'] }));
    assert.equal((await context.fetch(`${pods}/a`)).metadata.deletionTimestamp, undefined);
  }),

  behaviour('an eviction of a missing Pod, or of another than that of the path, fails', async (context) => {
    const pods = await readyForPods(context);
    refused(await context.post(`${pods}/a/eviction`, evict('a')), {
      code: 404,
      reason: 'NotFound',
      message: 'pods "a" not found',
    });
    refused(await context.post(`${pods}/a/eviction`, evict('b')), {
      code: 400,
      reason: 'BadRequest',
      message: 'name in URL does not match name in Eviction object',
    });
  }),

  behaviour(
    'a disruption budget that allows no disruption rejects with 429',
    async (context) => {
      const pods = await readyForPods(context);
      const budgets = await context.collection('poddisruptionbudgets', 'policy/v1');
      await context.create(budgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'budget' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      });
      await context.create(pods, { ...pod('a', onNode), metadata: { name: 'a', labels: { app: 'a' } } });
      await context.edit(`${pods}/a/status`, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
      await context.waitFor(`${budgets}/budget`, (budget) => read(budget, 'status.currentHealthy') === 1);
      refused(await context.post(`${pods}/a/eviction`, evict('a')), {
        code: 429,
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget budget needs 1 healthy pods and has 1 currently',
          },
        ],
      });
      assert.equal((await context.fetch(`${pods}/a`)).metadata.deletionTimestamp, undefined);
    },
    { onlyReal: true },
  ),
]);
