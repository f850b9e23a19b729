import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type ManualClock, manualClock, timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../authentication/user.ts';
import { createKubernetes } from '../kubernetes.ts';
import { copy, type KubeObject, type ObjectMeta } from '../object.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { asNode, asPod, conditionOf, newObject } from './runtime/objects.ts';

/** All controllers together, with the real kinds. */
const start = async (context: TestContext) => {
  const clock = manualClock();
  const defects: unknown[] = [];
  const kubernetes = await createKubernetes({ clock, report: (error) => defects.push(error) });
  context.after(() => kubernetes.stop());
  clock.advance(0);
  return { api: kubernetes.api, clock, defects };
};

const kind = (api: LoopbackClient, plural: string): Resource =>
  api.resources().find((resource) => resource.plural === plural) ?? assert.fail(`no ${plural}`);

const create = (
  api: LoopbackClient,
  plural: string,
  namespace: string,
  metadata: Partial<ObjectMeta> & { name: string },
  rest: Record<string, unknown> = {},
): KubeObject => {
  const resource = kind(api, plural);
  return api.create(
    resource,
    namespace,
    newObject(apiVersionOf(resource), resource.kind, metadata, rest),
    controllerManager,
  );
};

const get = (api: LoopbackClient, plural: string, namespace: string, name: string): KubeObject | undefined =>
  api.get(kind(api, plural), namespace, name);

const beat = (api: LoopbackClient, clock: ManualClock, name: string): void => {
  const node = copy(get(api, 'nodes', '', name) ?? assert.fail(name));
  const now = timestamp(clock.now());
  node['status'] = {
    allocatable: { cpu: '8', memory: '16Gi', pods: '2' },
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }],
  };
  api.updateStatus(kind(api, 'nodes'), '', node, controllerManager);
};

const mac = (api: LoopbackClient, clock: ManualClock, name: string): void => {
  create(api, 'nodes', '', { name });
  beat(api, clock, name);
  clock.advance(5_000);
};

const pod = (api: LoopbackClient, name: string, metadata: Partial<ObjectMeta> = {}): KubeObject =>
  create(api, 'pods', 'default', { name, ...metadata }, { spec: { containers: [{ name: 'c', image: 'x' }] } });

const podNamed = (api: LoopbackClient, name: string) => asPod(get(api, 'pods', 'default', name) ?? assert.fail(name));

test('a Pod is evicted five minutes after its Node stops its heartbeats', async (context) => {
  const { api, clock, defects } = await start(context);
  mac(api, clock, 'm1');
  pod(api, 'p');
  clock.advance(0);
  assert.equal(podNamed(api, 'p').spec.nodeName, 'm1');
  assert.equal(conditionOf(podNamed(api, 'p'), 'PodScheduled')?.status, 'True');
  mac(api, clock, 'm2');
  const later = (seconds: number): void => {
    for (let passed = 0; passed < seconds; passed += 5) {
      beat(api, clock, 'm2');
      clock.advance(5_000);
    }
  };
  later(60);
  const silent = asNode(get(api, 'nodes', '', 'm1') ?? assert.fail());
  assert.equal(conditionOf(silent, 'Ready')?.reason, 'NodeStatusUnknown');
  assert.deepEqual((silent.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort(), [
    'node.kubernetes.io/unreachable:NoExecute',
    'node.kubernetes.io/unreachable:NoSchedule',
  ]);
  assert.equal(podNamed(api, 'p').metadata.deletionTimestamp, undefined);
  later(300);
  assert.notEqual(podNamed(api, 'p').metadata.deletionTimestamp, undefined);
  assert.equal(conditionOf(podNamed(api, 'p'), 'DisruptionTarget')?.status, 'True');
  assert.deepEqual(defects, []);
});

test('the Pod of a deleted Node is deleted', async (context) => {
  const { api, clock, defects } = await start(context);
  mac(api, clock, 'm1');
  pod(api, 'p');
  clock.advance(0);
  api.delete(kind(api, 'nodes'), '', 'm1', controllerManager);
  clock.advance(60_000);
  assert.equal(get(api, 'pods', 'default', 'p'), undefined);
  assert.deepEqual(defects, []);
});

test('a deleted namespace is emptied and removed', async (context) => {
  const { api, clock, defects } = await start(context);
  create(api, 'namespaces', '', { name: 'team' });
  clock.advance(0);
  create(api, 'secrets', 'team', { name: 's', finalizers: ['x.y/z'] });
  assert.ok(get(api, 'serviceaccounts', 'team', 'default'));
  api.delete(kind(api, 'namespaces'), '', 'team', controllerManager);
  clock.advance(1_000);
  assert.equal(get(api, 'serviceaccounts', 'team', 'default'), undefined);
  const secret = copy(get(api, 'secrets', 'team', 's') ?? assert.fail());
  secret.metadata.finalizers = [];
  api.update(kind(api, 'secrets'), 'team', secret, controllerManager);
  clock.advance(1_000);
  assert.equal(get(api, 'namespaces', '', 'team'), undefined);
  assert.deepEqual(defects, []);
});

test('custom resources can be owners and dependents', async (context) => {
  const { api, clock, defects } = await start(context);
  const names = { plural: 'machines', singular: 'machine', kind: 'Machine', listKind: 'MachineList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  create(
    api,
    'customresourcedefinitions',
    '',
    { name: 'machines.x.dev' },
    {
      spec: {
        group: 'x.dev',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  );
  clock.advance(1_000);
  const machine = create(api, 'machines', 'default', { name: 'm' });
  const { uid } = machine.metadata;
  const ownerReferences = [{ apiVersion: 'x.dev/v1', kind: 'Machine', name: 'm', uid, blockOwnerDeletion: true }];
  pod(api, 'owned', { ownerReferences });
  clock.advance(0);
  assert.ok(get(api, 'pods', 'default', 'owned'));
  api.delete(kind(api, 'machines'), 'default', 'm', controllerManager, { propagationPolicy: 'Foreground' });
  assert.ok(get(api, 'machines', 'default', 'm'));
  clock.advance(0);
  assert.equal(get(api, 'pods', 'default', 'owned'), undefined);
  assert.equal(get(api, 'machines', 'default', 'm'), undefined);
  assert.deepEqual(defects, []);
});
