import assert from 'node:assert/strict';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { read, readList } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const nodes = '/api/v1/nodes';

const created = async (
  context: BehaviourContext,
  spec: Record<string, unknown> = {},
): Promise<{ path: string; node: unknown }> => {
  const name = context.unique('node');
  const node = await context.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
  context.deleteAfterBehaviour(`${nodes}/${name}`);
  return { path: `${nodes}/${name}`, node };
};

const hasTaint = (node: unknown, key: string): boolean =>
  readList(node, 'spec.taints').some((taint) => read(taint, 'key') === key);

export const nodesTopic = topic('nodes', [
  behaviour('a new Node is tainted as not ready', async (context) => {
    const { node } = await created(context);
    assert.deepEqual(read(node, 'spec.taints'), [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    assert.equal(read(node, 'metadata.namespace'), undefined);
  }),

  behaviour('its own taints are kept', async (context) => {
    const { node } = await created(context, { taints: [{ key: 'example.com/x', value: 'y', effect: 'NoExecute' }] });
    assert.deepEqual(read(node, 'spec.taints'), [
      { key: 'example.com/x', value: 'y', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ]);
  }),

  behaviour(
    'the not-ready taint is removed when the Node reports Ready, and set again when it does not',
    async (context) => {
      const { path } = await created(context);
      const report = (status: string): Promise<unknown> =>
        context.patch(`${path}/status`, 'strategic', {
          status: {
            conditions: [{ type: 'Ready', status, reason: 'Test', lastHeartbeatTime: timestamp(systemClock.now()) }],
          },
        });
      await report('True');
      await context.waitFor(path, (node) => node !== undefined && !hasTaint(node, 'node.kubernetes.io/not-ready'));
      await report('False');
      await context.waitFor(path, (node) => hasTaint(node, 'node.kubernetes.io/not-ready'));
    },
  ),

  behaviour('a cordoned Node has the unschedulable taint until it is uncordoned', async (context) => {
    const { path } = await created(context);
    await context.patch(path, 'strategic', { spec: { unschedulable: true } });
    await context.waitFor(path, (node) => hasTaint(node, 'node.kubernetes.io/unschedulable'));
    await context.patch(path, 'strategic', { spec: { unschedulable: null } });
    await context.waitFor(path, (node) => node !== undefined && !hasTaint(node, 'node.kubernetes.io/unschedulable'));
  }),

  behaviour('addresses and conditions of the status merge by type', async (context) => {
    const { path } = await created(context);
    const patch = (status: unknown): Promise<unknown> => context.patch(`${path}/status`, 'strategic', { status });
    await patch({
      addresses: [
        { type: 'InternalIP', address: '10.1.1.1' },
        { type: 'Hostname', address: 'mac' },
      ],
      capacity: { cpu: '8' },
    });
    await patch({ addresses: [{ type: 'InternalIP', address: '10.1.1.2' }], capacity: { memory: '16Gi' } });
    includes(await context.fetch(path), {
      status: {
        addresses: [
          { type: 'InternalIP', address: '10.1.1.2' },
          { type: 'Hostname', address: 'mac' },
        ],
        capacity: { cpu: '8', memory: '16Gi' },
      },
    });
  }),

  behaviour('the provider ID can be set once', async (context) => {
    const { path } = await created(context);
    await context.edit(path, { spec: { providerID: 'scaleway://one' } });
    refused(await context.patch(path, 'merge', { spec: { providerID: 'scaleway://two' } }), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.providerID: Forbidden: node updates may not change providerID except from "" to valid/,
    });
  }),

  behaviour('an unknown taint effect is not supported', async (context) => {
    const body = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: context.unique('node') },
      spec: { taints: [{ key: 'a', effect: 'X' }] },
    };
    refused(await context.post(nodes, body), {
      code: 422,
      reason: 'Invalid',
      message:
        /metadata\.taints\[0\]\.effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"/,
    });
  }),
]);
