import assert from 'node:assert/strict';
import { systemClock, timestamp } from '@tartan/kube/clock';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';
import type { Trial } from '../trial.ts';

interface Place {
  /** Unique label: only the Pods of this behaviour select it, and they select nothing else. */
  nodeSelector: Record<string, string>;
  name: string;
}

const readyNode = async (trial: Trial, spec: Record<string, unknown> = {}): Promise<Place> => {
  const name = trial.unique('node');
  const resources = { cpu: '4', memory: '8Gi', pods: '2' };
  await trial.create('/api/v1/nodes', {
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
  trial.deleteAfterBehaviour(`/api/v1/nodes/${name}`);
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

const scheduled = (trial: Trial, path: string): Promise<KubeObject | undefined> =>
  trial.waitFor(path, (object) => read(object, 'spec.nodeName') !== undefined);

const conditionOf = (object: unknown): unknown =>
  readList(object, 'status.conditions').find((each) => read(each, 'type') === 'PodScheduled');

/** Why a Pod is pending. Ignores the number of nodes: other behaviours create nodes too. */
const refusal = async (trial: Trial, path: string, why: RegExp): Promise<void> => {
  const waiting = await trial.waitFor(path, (object) => why.test(String(read(conditionOf(object), 'message'))));
  includes(conditionOf(waiting), { status: 'False', reason: 'Unschedulable' });
  assert.match(String(read(conditionOf(waiting), 'message')), /^0\/\d+ nodes are available: /);
  assert.equal(read(waiting, 'spec.nodeName'), undefined);
};

export const scheduler = topic('scheduler', [
  behaviour('a Pod is bound to a node that matches its selector', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
    await trial.create(pods, wanting('a', place));
    const bound = await scheduled(trial, `${pods}/a`);
    assert.equal(read(bound, 'spec.nodeName'), place.name);
    includes(conditionOf(bound), { type: 'PodScheduled', status: 'True' });
  }),

  behaviour('an Event reports the binding', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
    const events = await trial.watch(`${await trial.collection('events')}?fieldSelector=reason%3DScheduled`);
    await trial.create(pods, wanting('a', place));
    includes((await events.next()).object, {
      involvedObject: { kind: 'Pod', name: 'a' },
      message: `Successfully assigned ${await trial.namespace()}/a to ${place.name}`,
      type: 'Normal',
      reportingComponent: 'default-scheduler',
    });
  }),

  behaviour('a Pod without a suitable node stays Pending with a reason, until there is one', async (trial) => {
    const pods = await readyForPods(trial);
    const name = trial.unique('late');
    await trial.create(pods, wanting('a', { name, nodeSelector: { 'example.com/late': name } }));
    const why = /no nodes available to schedule pods|didn't match Pod's node affinity\/selector/;
    const waiting = await trial.waitFor(`${pods}/a`, (object) =>
      why.test(String(read(conditionOf(object), 'message'))),
    );
    includes(conditionOf(waiting), { status: 'False', reason: 'Unschedulable' });
    const place = await readyNode(trial);
    await trial.edit(`/api/v1/nodes/${place.name}`, { metadata: { labels: { 'example.com/late': name } } });
    assert.equal(read(await scheduled(trial, `${pods}/a`), 'spec.nodeName'), place.name);
  }),

  behaviour('a Pod needs a toleration for a taint', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial, {
      taints: [{ key: 'example.com/dedicated', value: 'x', effect: 'NoSchedule' }],
    });
    await trial.create(pods, wanting('a', place));
    await refusal(trial, `${pods}/a`, /\d+ node\(s\) had untolerated taint/);
    const tolerations = [{ key: 'example.com/dedicated', operator: 'Equal', value: 'x', effect: 'NoSchedule' }];
    await trial.create(pods, wanting('b', place, { tolerations }));
    await scheduled(trial, `${pods}/b`);
  }),

  behaviour('a Pod that requests more than is free stays Pending', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
    await trial.create(pods, wanting('a', place, needing({ cpu: '3', memory: '1Gi' })));
    await scheduled(trial, `${pods}/a`);
    await trial.create(pods, wanting('b', place, needing({ cpu: '1500m' })));
    await refusal(trial, `${pods}/b`, /1 Insufficient cpu/);
    await trial.create(pods, wanting('c', place, needing({ memory: '7.5Gi' })));
    await refusal(trial, `${pods}/c`, /1 Insufficient memory/);
    await trial.remove(`${pods}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
    await scheduled(trial, `${pods}/b`);
  }),

  behaviour('a node gets as many Pods as its capacity', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
    for (const name of ['a', 'b']) {
      await trial.create(pods, wanting(name, place));
      await scheduled(trial, `${pods}/${name}`);
    }
    await trial.create(pods, wanting('c', place));
    await refusal(trial, `${pods}/c`, /1 Too many pods/);
  }),

  behaviour('a cordoned node gets no Pod', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial, { unschedulable: true });
    await trial.create(pods, wanting('a', place));
    await refusal(trial, `${pods}/a`, /\d+ node\(s\) were unschedulable/);
    await trial.edit(`/api/v1/nodes/${place.name}`, { spec: { unschedulable: null } });
    await scheduled(trial, `${pods}/a`);
  }),

  behaviour('a Pod for another scheduler, or with gates, is ignored', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
    await trial.create(pods, wanting('other', place, { schedulerName: 'nobody' }));
    await trial.create(pods, wanting('gated', place, { schedulingGates: [{ name: 'example.com/gate' }] }));
    await trial.create(pods, wanting('marker', place));
    await scheduled(trial, `${pods}/marker`);
    for (const name of ['other', 'gated']) {
      assert.equal(read(await trial.fetch(`${pods}/${name}`), 'spec.nodeName'), undefined, name);
    }
    await trial.edit(`${pods}/gated`, { spec: { schedulingGates: [] } });
    await scheduled(trial, `${pods}/gated`);
  }),

  behaviour('node affinity supports operators', async (trial) => {
    const pods = await readyForPods(trial);
    const place = await readyNode(trial);
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
    await trial.create(pods, wanting('in', place, affinity('In')));
    await scheduled(trial, `${pods}/in`);
    await trial.create(pods, wanting('out', place, affinity('NotIn')));
    await refusal(trial, `${pods}/out`, /didn't match Pod's node affinity\/selector/);
  }),
]);
