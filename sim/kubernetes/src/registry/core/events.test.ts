import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../../object.ts';
import { type Fixture, fixture, namespace, rejection } from '../testing/fixture.ts';
import { fromCoreEvent, toCoreEvent } from './events.ts';

describe('events', () => {
  const modern = 'events.events.k8s.io';
  const timed = {
    eventTime: '2026-01-01T00:00:00.000001Z',
    reportingController: 'a.b/c',
    reportingInstance: 'i',
    action: 'Act',
    reason: 'Because',
    regarding: { kind: 'Pod', name: 'p', namespace },
    note: 'hello',
    type: 'Normal',
  };

  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (key: string, fields: object): KubeObject =>
    cluster.create(key, { metadata: { name: 'e' }, ...fields });
  const read = (key: string): KubeObject | undefined => cluster.api.get(cluster.resource(key), namespace, 'e');
  const content = (object: KubeObject | undefined): object => {
    const { apiVersion, kind, metadata: _, ...rest } = object ?? ({} as KubeObject);
    return { apiVersion, kind, ...rest };
  };

  describe('an event', () => {
    it('of the core API is readable in the other', () => {
      create('events', {
        involvedObject: { kind: 'Pod', name: 'p', namespace },
        message: 'hi',
        count: 2,
        source: { component: 'k' },
        type: 'Normal',
        reason: 'R',
        firstTimestamp: '2026-01-01T00:00:00Z',
      });
      assert.deepEqual(content(read(modern)), {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        regarding: { kind: 'Pod', name: 'p', namespace },
        note: 'hi',
        deprecatedCount: 2,
        deprecatedSource: { component: 'k' },
        deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
        deprecatedLastTimestamp: null,
        eventTime: null,
        type: 'Normal',
        reason: 'R',
      });
    });

    it('of the other API is readable in the core', () => {
      create(modern, timed);
      assert.deepEqual(content(read('events')), {
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: { kind: 'Pod', name: 'p', namespace },
        message: 'hello',
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: '2026-01-01T00:00:00.000001Z',
        reportingComponent: 'a.b/c',
        reportingInstance: 'i',
        action: 'Act',
        reason: 'Because',
        type: 'Normal',
      });
    });

    it('is unchanged by a conversion there and back', () => {
      const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
      fc.assert(
        fc.property(
          fc.record({
            message: optional(fc.string()),
            count: optional(fc.nat()),
            reason: optional(fc.string()),
            reportingComponent: fc.string(),
            reportingInstance: fc.string(),
          }),
          (fields) => {
            const event = {
              apiVersion: 'v1',
              kind: 'Event',
              metadata: { name: 'e' },
              ...fields,
            } as unknown as KubeObject;
            assert.deepEqual(toCoreEvent(fromCoreEvent(event)), event);
          },
        ),
      );
    });

    const coreRefusals: [string, object, string[]][] = [
      [
        'about another namespace',
        { involvedObject: { namespace: 'other' } },
        ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
      ],
      [
        'about no namespace',
        { involvedObject: {} },
        ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
      ],
      [
        'with a time but nobody who acted',
        { involvedObject: { namespace }, eventTime: timed.eventTime, reportingComponent: 'a', reason: 'r' },
        ['reportingInstance: Required value', 'action: Required value'],
      ],
    ];
    for (const [name, fields, causes] of coreRefusals) {
      it(`${name} is invalid`, async () =>
        assert.deepEqual(await rejection(() => create('events', fields)), ['422', ...causes]));
    }

    const strictRefusals: [string, object, string[]][] = [
      ['without its time', { eventTime: undefined }, ['eventTime: Required value']],
      ['of an unknown type', { type: 'x' }, ['type: Invalid value: "": has invalid value: x']],
      ['with an old count', { deprecatedCount: 1 }, ['count: Invalid value: "": needs to be unset']],
      ['with an old source', { deprecatedSource: { host: 'h' } }, ['source: Invalid value: "": needs to be unset']],
      [
        'of a series of one',
        { series: { count: 1, lastObservedTime: timed.eventTime } },
        ['series.count: Invalid value: "": should be at least 2'],
      ],
      [
        'with a long note',
        { note: 'x'.repeat(1025) },
        ['message: Invalid value: "": can have at most 1024 characters'],
      ],
    ];
    for (const [name, fields, causes] of strictRefusals) {
      it(`${name} is invalid for events.k8s.io`, async () =>
        assert.deepEqual(await rejection(() => create(modern, { ...timed, ...fields })), ['422', ...causes]));
    }

    it('is immutable except for its series in events.k8s.io, and mutable in core/v1', async () => {
      const made = create(modern, timed);
      assert.deepEqual(
        await rejection(() =>
          cluster.update(modern, { ...made, note: 'other', regarding: { kind: 'Pod', name: 'q', namespace } }),
        ),
        [
          '422',
          `involvedObject: Invalid value: {"Kind":"Pod","Namespace":"${namespace}","Name":"q","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`,
          'message: Invalid value: "other": field is immutable',
        ],
      );
      const series = { count: 2, lastObservedTime: timed.eventTime };
      assert.deepEqual(cluster.update(modern, { ...made, series })['series'], series);
      const core = read('events');
      assert.ok(core);
      assert.equal(cluster.update('events', { ...core, message: 'other' })['message'], 'other');
    });

    it('is selected by involvedObject and by regarding', () => {
      const made = create(modern, timed);
      const fields = cluster.resource(modern).strategy.selectableFields(made);
      assert.deepEqual(
        [fields['regarding.name'], fields['reportingController'], fields['involvedObject.name']],
        ['p', 'a.b/c', undefined],
      );
      const stored = read('events');
      assert.ok(stored);
      const coreFields = cluster.resource('events').strategy.selectableFields(stored);
      assert.deepEqual([coreFields['involvedObject.name'], coreFields['source']], ['p', 'a.b/c']);
    });
  });
});
