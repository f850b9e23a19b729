import type { IEvent } from 'kubernetes-models/v1/Event';
import type { Client } from '../client/client.ts';
import { type Clock, timestamp } from '../clock/clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import { events } from '../objects/builtin.ts';
import type { EventRecord } from './correlate.ts';
import { cut, eventName } from './happening.ts';

export interface EventWriterOptions {
  client: Client;
  clock: Clock;
  /** The controller, `example.com/machines`. */
  component: string;
  /** This process among several of them: the name of the Pod. */
  instance: string;
}

/** Puts the latest state of a record on the server. */
export interface EventWriter {
  /** Idempotent: the name of a record's Event never changes, so a try whose answer got lost can be repeated. Rejects with KubeError. */
  write(record: EventRecord, signal: AbortSignal): Promise<void>;
}

const deadlineMs = 10_000;

export const createEventWriter = ({ client, clock, component, instance }: EventWriterOptions): EventWriter => {
  const names = new WeakMap<EventRecord, string>();
  const stored = new WeakSet<EventRecord>();
  let sequence = 0;

  const nameOf = (record: EventRecord): string => {
    const name = names.get(record) ?? eventName(record.involved, instance, clock.now(), sequence++);
    names.set(record, name);
    return name;
  };

  /** The server wants events of objects without a namespace in `default`. */
  const placeOf = (record: EventRecord) => ({
    name: nameOf(record),
    namespace: record.involved.namespace ?? 'default',
  });

  const latest = ({ count, lastAt, happening: { message } }: EventRecord) => ({
    count,
    message,
    lastTimestamp: timestamp(lastAt),
  });

  const eventOf = (record: EventRecord): IEvent => {
    const { type, reason, action } = record.happening;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: placeOf(record),
      involvedObject: record.involved,
      type,
      reason,
      ...(action === undefined ? {} : { action }),
      firstTimestamp: timestamp(record.firstAt),
      ...latest(record),
      source: { component },
      reportingComponent: component,
      reportingInstance: cut(instance, 128),
    };
  };

  const patch = async (record: EventRecord, signal: AbortSignal): Promise<void> => {
    await client.patch(events, placeOf(record), { type: 'merge', body: latest(record) }, { signal, deadlineMs });
  };

  const create = async (record: EventRecord, signal: AbortSignal): Promise<void> => {
    try {
      await client.create(events, eventOf(record), { signal, deadlineMs });
    } catch (error) {
      // An earlier try did get through.
      if (!isKubeError(error, 'alreadyExists')) throw error;
      await patch(record, signal);
    }
    stored.add(record);
  };

  return {
    write: async (record, signal) => {
      if (!stored.has(record)) return create(record, signal);
      try {
        await patch(record, signal);
      } catch (error) {
        // The server forgets events after an hour.
        if (!isKubeError(error, 'notFound')) throw error;
        stored.delete(record);
        await create(record, signal);
      }
    },
  };
};
