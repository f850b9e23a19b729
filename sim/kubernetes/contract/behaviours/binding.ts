import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read } from '../read.ts';

const bind = (name: string, node: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, ...more },
  target: { kind: 'Node', name: node },
});

export const binding = topic('binding', [
  behaviour('a binding puts a Pod on a node and says that it is scheduled', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    const answer = await trial.post(`${pods}/a/binding`, bind('a', 'ghost', { annotations: { x: 'y' } }));
    assert.equal(answer.code, 201);
    assert.deepEqual(answer.json, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const bound = await trial.fetch(`${pods}/a`);
    includes(bound, { spec: { nodeName: 'ghost' }, metadata: { annotations: { x: 'y' } } });
    includes(read(bound, 'status.conditions.0'), { type: 'PodScheduled', status: 'True' });
  }),

  behaviour('POST of a Binding to the collection does the same', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    const answer = await trial.post(await trial.collection('bindings'), bind('a', 'ghost'));
    assert.equal(answer.code, 201);
    includes(await trial.fetch(`${pods}/a`), { spec: { nodeName: 'ghost' } });
  }),

  behaviour('a Pod that has a node is not bound again', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a', { nodeName: 'first', tolerations: [{ operator: 'Exists' }] }));
    refused(await trial.post(`${pods}/a/binding`, bind('a', 'second')), {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "first"',
      details: { name: 'a', kind: 'pods/binding' },
    });
  }),

  behaviour('a Pod with scheduling gates is not bound', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a', { schedulingGates: [{ name: 'example.com/gate' }] }));
    refused(await trial.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a has non-empty .spec.schedulingGates',
    });
  }),

  behaviour('a Pod that is being deleted is not bound', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, { ...pod('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await trial.remove(`${pods}/a`);
    refused(await trial.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods/binding "a": pod a is being deleted, cannot be assigned to a host',
    });
    await trial.edit(`${pods}/a`, { metadata: { finalizers: null } });
  }),

  behaviour('a Pod that does not exist, or another than that of the path, is not bound', async (trial) => {
    const pods = await readyForPods(trial);
    refused(await trial.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 404,
      reason: 'NotFound',
      message: 'pods "a" not found',
    });
    refused(await trial.post(`${pods}/a/binding`, bind('b', 'ghost')), {
      code: 400,
      reason: 'BadRequest',
      message: 'name in URL does not match name in Binding object',
    });
  }),
]);
