import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { read, readList } from '../read.ts';
import type { Trial } from '../trial.ts';

const both = async (trial: Trial): Promise<{ core: string; grouped: string; namespace: string }> => ({
  core: await trial.collection('events'),
  grouped: await trial.collection('events', 'events.k8s.io/v1'),
  namespace: await trial.namespace(),
});

const coreEvent = (name: string, namespace: string): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { kind: 'Pod', name: 'p', namespace, uid: 'u', fieldPath: 'spec.containers{main}' },
  reason: 'Tested',
  message: 'It was tested',
  type: 'Warning',
  count: 3,
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-02T00:00:00Z',
  source: { component: 'tester', host: 'here' },
});

const groupedEvent = (name: string, namespace: string): Record<string, unknown> => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  regarding: { kind: 'Pod', name: 'q', namespace },
  related: { kind: 'Node', name: 'n' },
  reason: 'Tested',
  note: 'It was tested',
  type: 'Normal',
  action: 'Testing',
  eventTime: '2026-01-01T00:00:00.123456Z',
  series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' },
  reportingController: 'example.com/tester',
  reportingInstance: 'tester-1',
});

export const events = topic('events', [
  behaviour('an Event of core v1 is readable in events.k8s.io with other field names', async (trial) => {
    const { core, grouped, namespace } = await both(trial);
    const created = await trial.create(core, coreEvent('a', namespace));
    includes(created, { eventTime: null, reportingComponent: '', reportingInstance: '' });
    const other = await trial.fetch(`${grouped}/a`);
    includes(other, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
      regarding: { kind: 'Pod', name: 'p', namespace, uid: 'u', fieldPath: 'spec.containers{main}' },
      note: 'It was tested',
      reason: 'Tested',
      type: 'Warning',
      eventTime: null,
      deprecatedCount: 3,
      deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
      deprecatedLastTimestamp: '2026-01-02T00:00:00Z',
      deprecatedSource: { component: 'tester', host: 'here' },
    });
    assert.equal(other.message, undefined);
    assert.equal(other.involvedObject, undefined);
  }),

  behaviour('an Event of events.k8s.io is readable in core v1 with other field names', async (trial) => {
    const { core, grouped, namespace } = await both(trial);
    await trial.create(grouped, groupedEvent('a', namespace));
    const other = await trial.fetch(`${core}/a`);
    includes(other, {
      apiVersion: 'v1',
      involvedObject: { kind: 'Pod', name: 'q', namespace },
      related: { kind: 'Node', name: 'n' },
      message: 'It was tested',
      action: 'Testing',
      eventTime: '2026-01-01T00:00:00.123456Z',
      series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' },
      reportingComponent: 'example.com/tester',
      reportingInstance: 'tester-1',
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
    });
    assert.equal(other.note, undefined);
    assert.equal(other.reportingController, undefined);
  }),

  behaviour('a watch of one group includes Events written through the other', async (trial) => {
    const { core, grouped, namespace } = await both(trial);
    const watching = await trial.watch(grouped);
    await trial.create(core, coreEvent('a', namespace));
    includes(await watching.next(), {
      type: 'ADDED',
      object: { apiVersion: 'events.k8s.io/v1', metadata: { name: 'a' }, note: 'It was tested' },
    });
  }),

  behaviour('field selectors select Events by their object, as kubectl describe does', async (trial) => {
    const { core, namespace } = await both(trial);
    await trial.create(core, coreEvent('a', namespace));
    await trial.create(core, {
      ...coreEvent('b', namespace),
      involvedObject: { kind: 'Pod', name: 'other', namespace },
    });
    const select = async (selector: string): Promise<unknown[]> => {
      const found = await trial.fetch(`${core}?fieldSelector=${encodeURIComponent(selector)}`);
      return readList(found, 'items').map((item) => read(item, 'metadata.name'));
    };
    assert.deepEqual(await select(`involvedObject.name=p,involvedObject.namespace=${namespace},involvedObject.uid=u`), [
      'a',
    ]);
    assert.deepEqual(await select('involvedObject.kind=Pod,reason=Tested,type=Warning'), ['a', 'b']);
    assert.deepEqual(await select('source=tester,involvedObject.name!=p'), ['b']);
  }),

  behaviour('an Event is in the namespace of its object', async (trial) => {
    const { core } = await both(trial);
    refused(await trial.post(core, coreEvent('a', 'elsewhere')), {
      code: 422,
      reason: 'Invalid',
      message:
        'Event "a" is invalid: involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace',
    });
  }),

  behaviour('events.k8s.io requires more: eventTime, type, controller, action', async (trial) => {
    const { grouped, namespace } = await both(trial);
    const { eventTime: _, ...timeless } = groupedEvent('a', namespace);
    refused(await trial.post(grouped, timeless), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: eventTime: Required value',
    });
    refused(await trial.post(grouped, { ...groupedEvent('a', namespace), type: 'Odd' }), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: type: Invalid value: "": has invalid value: Odd',
    });
    refused(await trial.post(grouped, { ...groupedEvent('a', namespace), action: '' }), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: action: Required value',
    });
  }),

  behaviour('a PATCH increases the count of an Event', async (trial) => {
    const { core, namespace } = await both(trial);
    await trial.create(core, coreEvent('a', namespace));
    const answer = await trial.patch(`${core}/a`, 'strategic', { count: 4, lastTimestamp: '2026-01-03T00:00:00Z' });
    includes(answer.json, { count: 4, lastTimestamp: '2026-01-03T00:00:00Z', firstTimestamp: '2026-01-01T00:00:00Z' });
  }),
]);
