import assert from 'node:assert/strict';
import { systemClock, timestamp } from '@tartan/kube/clock';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

interface Place {
  /** Unique label: only the Pods of this behaviour select it, and they select nothing else. */
  nodeSelector: Record<string, string>;
  name: string;
}

const readyNode = async (context: BehaviourContext, spec: Record<string, unknown> = {}): Promise<Place> => {
  const name = context.unique('node');
  const resources = { cpu: '4', memory: '8Gi', pods: '2' };
  await context.create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'example.com/contract': name } },
    spec,
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Test', lastHeartbeatTime: timestamp(systemClock.now()) }],
    },
  });
  context.deleteAfterBehaviour(`/api/v1/nodes/${name}`);
  return { name, nodeSelector: { 'example.com/contract': name } };
};

const wanting = (
  name: string,
  { nodeSelector }: Place,
  spec: Record<string, unknown> = {},
): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { nodeSelector, containers: [{ name: 'main', image: 'mac:1' }], ...spec },
});

const needing = (requests: Record<string, string>): Record<string, unknown> => ({
  containers: [{ name: 'main', image: 'mac:1', resources: { requests } }],
});

const scheduled = (context: BehaviourContext, path: string): Promise<KubeObject | undefined> =>
  context.waitFor(path, (object) => read(object, 'spec.nodeName') !== undefined);

const conditionOf = (object: unknown): unknown =>
  readList(object, 'status.conditions').find((each) => read(each, 'type') === 'PodScheduled');

/** Why a Pod is pending. Ignores the number of nodes: other behaviours create nodes too. */
const refusal = async (context: BehaviourContext, path: string, why: RegExp): Promise<void> => {
  const waiting = await context.waitFor(path, (object) => why.test(String(read(conditionOf(object), 'message'))));
  includes(conditionOf(waiting), { status: 'False', reason: 'Unschedulable' });
  assert.match(String(read(conditionOf(waiting), 'message')), /^0\/\d+ nodes are available: /);
  assert.equal(read(waiting, 'spec.nodeName'), undefined);
};

export const scheduler = topic('scheduler', [
  behaviour('a Pod is bound to a node that matches its selector', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    await context.create(pods, wanting('a', place));
    const bound = await scheduled(context, `${pods}/a`);
    assert.equal(read(bound, 'spec.nodeName'), place.name);
    includes(conditionOf(bound), { type: 'PodScheduled', status: 'True' });
  }),

  behaviour('an Event reports the binding', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    const events = await context.watch(`${await context.collection('events')}?fieldSelector=reason%3DScheduled`);
    await context.create(pods, wanting('a', place));
    includes((await events.next()).object, {
      involvedObject: { kind: 'Pod', name: 'a' },
      message: `Successfully assigned ${await context.namespace()}/a to ${place.name}`,
      type: 'Normal',
      reportingComponent: 'default-scheduler',
    });
  }),

  behaviour('a Pod without a suitable node stays Pending with a reason, until there is one', async (context) => {
    const pods = await readyForPods(context);
    const name = context.unique('late');
    await context.create(pods, wanting('a', { name, nodeSelector: { 'example.com/late': name } }));
    const why = /no nodes available to schedule pods|didn't match Pod's node affinity\/selector/;
    const waiting = await context.waitFor(`${pods}/a`, (object) =>
      why.test(String(read(conditionOf(object), 'message'))),
    );
    includes(conditionOf(waiting), { status: 'False', reason: 'Unschedulable' });
    const place = await readyNode(context);
    await context.edit(`/api/v1/nodes/${place.name}`, { metadata: { labels: { 'example.com/late': name } } });
    assert.equal(read(await scheduled(context, `${pods}/a`), 'spec.nodeName'), place.name);
  }),

  behaviour('a Pod needs a toleration for a taint', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context, {
      taints: [{ key: 'example.com/dedicated', value: 'x', effect: 'NoSchedule' }],
    });
    await context.create(pods, wanting('a', place));
    await refusal(context, `${pods}/a`, /\d+ node\(s\) had untolerated taint/);
    const tolerations = [{ key: 'example.com/dedicated', operator: 'Equal', value: 'x', effect: 'NoSchedule' }];
    await context.create(pods, wanting('b', place, { tolerations }));
    await scheduled(context, `${pods}/b`);
  }),

  behaviour('a Pod that requests more than is free stays Pending', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    await context.create(pods, wanting('a', place, needing({ cpu: '3', memory: '1Gi' })));
    await scheduled(context, `${pods}/a`);
    await context.create(pods, wanting('b', place, needing({ cpu: '1500m' })));
    await refusal(context, `${pods}/b`, /1 Insufficient cpu/);
    await context.create(pods, wanting('c', place, needing({ memory: '7.5Gi' })));
    await refusal(context, `${pods}/c`, /1 Insufficient memory/);
    await context.remove(`${pods}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
    await scheduled(context, `${pods}/b`);
  }),

  behaviour('a node gets as many Pods as its capacity', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    for (const name of ['a', 'b']) {
      await context.create(pods, wanting(name, place));
      await scheduled(context, `${pods}/${name}`);
    }
    await context.create(pods, wanting('c', place));
    await refusal(context, `${pods}/c`, /1 Too many pods/);
  }),

  behaviour('a cordoned node gets no Pod', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context, { unschedulable: true });
    await context.create(pods, wanting('a', place));
    await refusal(context, `${pods}/a`, /\d+ node\(s\) were unschedulable/);
    await context.edit(`/api/v1/nodes/${place.name}`, { spec: { unschedulable: null } });
    await scheduled(context, `${pods}/a`);
  }),

  behaviour('a Pod for another scheduler, or with gates, is ignored', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    await context.create(pods, wanting('other', place, { schedulerName: 'nobody' }));
    await context.create(pods, wanting('gated', place, { schedulingGates: [{ name: 'example.com/gate' }] }));
    await context.create(pods, wanting('marker', place));
    await scheduled(context, `${pods}/marker`);
    for (const name of ['other', 'gated']) {
      assert.equal(read(await context.fetch(`${pods}/${name}`), 'spec.nodeName'), undefined, name);
    }
    await context.edit(`${pods}/gated`, { spec: { schedulingGates: [] } });
    await scheduled(context, `${pods}/gated`);
  }),

  behaviour('node affinity supports operators', async (context) => {
    const pods = await readyForPods(context);
    const place = await readyNode(context);
    const affinity = (operator: string): Record<string, unknown> => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'example.com/contract', operator, values: [place.name, 'x'] }] },
            ],
          },
        },
      },
    });
    await context.create(pods, wanting('in', place, affinity('In')));
    await scheduled(context, `${pods}/in`);
    await context.create(pods, wanting('out', place, affinity('NotIn')));
    await refusal(context, `${pods}/out`, /didn't match Pod's node affinity\/selector/);
  }),
]);
