import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { read, readList } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const both = async (context: BehaviourContext): Promise<{ core: string; grouped: string; namespace: string }> => ({
  core: await context.collection('events'),
  grouped: await context.collection('events', 'events.k8s.io/v1'),
  namespace: await context.namespace(),
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
  behaviour('an Event of core v1 is readable in events.k8s.io with other field names', async (context) => {
    const { core, grouped, namespace } = await both(context);
    const created = await context.create(core, coreEvent('a', namespace));
    includes(created, { eventTime: null, reportingComponent: '', reportingInstance: '' });
    const other = await context.fetch(`${grouped}/a`);
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

  behaviour('an Event of events.k8s.io is readable in core v1 with other field names', async (context) => {
    const { core, grouped, namespace } = await both(context);
    await context.create(grouped, groupedEvent('a', namespace));
    const other = await context.fetch(`${core}/a`);
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

  behaviour('a watch of one group includes Events written through the other', async (context) => {
    const { core, grouped, namespace } = await both(context);
    const watching = await context.watch(grouped);
    await context.create(core, coreEvent('a', namespace));
    includes(await watching.next(), {
      type: 'ADDED',
      object: { apiVersion: 'events.k8s.io/v1', metadata: { name: 'a' }, note: 'It was tested' },
    });
  }),

  behaviour('field selectors select Events by their object, as kubectl describe does', async (context) => {
    const { core, namespace } = await both(context);
    await context.create(core, coreEvent('a', namespace));
    await context.create(core, {
      ...coreEvent('b', namespace),
      involvedObject: { kind: 'Pod', name: 'other', namespace },
    });
    const select = async (selector: string): Promise<unknown[]> => {
      const found = await context.fetch(`${core}?fieldSelector=${encodeURIComponent(selector)}`);
      return readList(found, 'items').map((item) => read(item, 'metadata.name'));
    };
    assert.deepEqual(await select(`involvedObject.name=p,involvedObject.namespace=${namespace},involvedObject.uid=u`), [
      'a',
    ]);
    assert.deepEqual(await select('involvedObject.kind=Pod,reason=Tested,type=Warning'), ['a', 'b']);
    assert.deepEqual(await select('source=tester,involvedObject.name!=p'), ['b']);
  }),

  behaviour('an Event is in the namespace of its object', async (context) => {
    const { core } = await both(context);
    refused(await context.post(core, coreEvent('a', 'elsewhere')), {
      code: 422,
      reason: 'Invalid',
      message:
        'Event "a" is invalid: involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace',
    });
  }),

  behaviour('events.k8s.io requires more: eventTime, type, controller, action', async (context) => {
    const { grouped, namespace } = await both(context);
    const { eventTime: _, ...timeless } = groupedEvent('a', namespace);
    refused(await context.post(grouped, timeless), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: eventTime: Required value',
    });
    refused(await context.post(grouped, { ...groupedEvent('a', namespace), type: 'Odd' }), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: type: Invalid value: "": has invalid value: Odd',
    });
    refused(await context.post(grouped, { ...groupedEvent('a', namespace), action: '' }), {
      code: 422,
      reason: 'Invalid',
      message: 'Event "a" is invalid: action: Required value',
    });
  }),

  behaviour('a PATCH increases the count of an Event', async (context) => {
    const { core, namespace } = await both(context);
    await context.create(core, coreEvent('a', namespace));
    const answer = await context.patch(`${core}/a`, 'strategic', { count: 4, lastTimestamp: '2026-01-03T00:00:00Z' });
    includes(answer.json, { count: 4, lastTimestamp: '2026-01-03T00:00:00Z', firstTimestamp: '2026-01-01T00:00:00Z' });
  }),
]);
