import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { macTaint, vmStartTaint } from '@tartan/api';
import {
  createClient,
  createLogger,
  createManager,
  createInformer,
  inProcessTransport,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { settle } from '@tartan/kube/testing';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createVmStartTaint } from './controller.ts';
import { nodeIndexes } from '../indexes.ts';

/** A Mac and the scheduler of an embedded Kubernetes, on virtual time. The test acts as the agent, with the identity of its Node. */
const createHarness = async (t: TestContext) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock });
  t.after(() => kubernetes.stop());
  const as = (commonName: string, organization: string) =>
    createClient(inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [organization] } }), {
      clock,
    });
  const admin = as('admin', 'system:masters');
  const agent = as('system:node:mac-1', 'system:nodes');
  const log = createLogger({ write: () => {}, clock, level: 'error' });
  const ofNamespace = { namespace: 'default' };
  await admin
    .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
    .catch(() => undefined);
  await admin
    .create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', ...ofNamespace },
    })
    .catch(() => undefined);
  await agent.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'mac-1', labels: { 'kubernetes.io/os': 'darwin', 'tuist.dev/runtime': 'tart' } },
    spec: { taints: [{ ...macTaint }] },
    status: {
      allocatable: { cpu: '8', memory: '16Gi', pods: '4' },
      capacity: { cpu: '8', memory: '16Gi', pods: '4' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  const cache = createInformer({ client: admin, resource: nodes, indexes: nodeIndexes, clock, random: () => 0.5, log });
  const patched: (() => Promise<void>)[] = [];
  const client: typeof admin = {
    ...admin,
    patch: async (...asked) => {
      await patched.shift()?.();
      return admin.patch(...asked);
    },
  };
  const ending = new AbortController();
  const running = createManager({
    caches: { nodes: cache },
    controllers: [createVmStartTaint({ client, nodes: cache, clock, log })],
    clock,
    log,
  }).run(ending.signal);
  t.after(async () => {
    ending.abort();
    await settle();
    await running;
  });
  const pass = async (): Promise<void> => {
    for (let step = 0; step < 6; step += 1) {
      await settle();
      clock.advance(1000);
    }
    await settle();
  };
  await pass();
  return {
    admin,
    pass,
    /** Runs before the next write of the controller. */
    beforeWrite: (work: () => Promise<void>) => void patched.push(work),
    says: async (status: 'True' | 'False' | 'Unknown') => {
      const conditions = [{ type: 'VMStart', status }];
      await agent.patch(
        nodes,
        { name: 'mac-1' },
        { type: 'strategic', body: { status: { conditions } } },
        { subresource: 'status' },
      );
      await pass();
    },
    taints: async () =>
      (await admin.get(nodes, { name: 'mac-1' })).spec?.taints?.map(({ key, effect }) => `${key}:${effect}`),
    addPod: async (name: string) => {
      await admin.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, ...ofNamespace },
        spec: {
          tolerations: [{ key: macTaint.key, operator: 'Exists', effect: macTaint.effect }],
          containers: [{ name: 'runner', image: 'ghcr.io/example/macos:26' }],
        },
      });
      await pass();
    },
    nodeOf: async (name: string) => (await admin.get(pods, { name, ...ofNamespace })).spec?.nodeName,
  };
};

const mac = `${macTaint.key}:NoSchedule`;
const ours = `${vmStartTaint.key}:NoSchedule`;

test('a Mac that cannot start VMs gets no new Pod, keeps its Pods, and is schedulable again when it can', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('before');
  assert.equal(await harness.nodeOf('before'), 'mac-1');
  await harness.says('False');
  assert.deepEqual(await harness.taints(), [mac, ours]);
  await harness.addPod('meanwhile');
  assert.equal(await harness.nodeOf('meanwhile'), undefined);
  assert.equal(await harness.nodeOf('before'), 'mac-1', 'nobody is evicted');
  await harness.says('Unknown');
  assert.deepEqual(await harness.taints(), [mac, ours], 'an agent that has just come up ends nothing');
  await harness.says('True');
  assert.deepEqual(await harness.taints(), [mac]);
  await harness.pass();
  assert.equal(await harness.nodeOf('meanwhile'), 'mac-1');
});

test('a taint added by somebody else between read and write is kept', async (t) => {
  const harness = await createHarness(t);
  harness.beforeWrite(async () => {
    const taints = [{ ...macTaint }, { key: 'example.com/theirs', effect: 'NoSchedule' }];
    await harness.admin.patch(nodes, { name: 'mac-1' }, { type: 'merge', body: { spec: { taints } } });
  });
  await harness.says('False');
  assert.deepEqual(await harness.taints(), [mac, 'example.com/theirs:NoSchedule', ours]);
});
