import type { IEvent } from 'kubernetes-models/v1/Event';
import type { Client } from '../client/client.ts';
import { type Clock, sleep, timestamp } from '../clock/clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import { events } from '../objects/builtin.ts';
import type { KubeObject } from '../objects/object.ts';
import { backoffMs } from '../workqueue/rate-limiter.ts';
import { createCorrelator, type EventRecord } from './correlator.ts';
import { type EventInput, eventName, involvedObjectOf, truncate } from './event.ts';

export interface EventRecorderOptions extends EventWriterOptions {
  log: Logger;
}

/** Tells users, by Events, what happens to an object. */
export interface EventRecorder {
  /** Never throws, never waits. The object must say its apiVersion and kind. */
  event(object: KubeObject, happening: EventInput): void;
  /**
   * The end: writes what waits, for at most that time, and takes nothing more. What is not written by then is lost. Never
   * rejects.
   */
  flush(deadlineMs: number): Promise<void>;
}

/** Records that wait. Each is in line once, however often it happens meanwhile. */
const maxQueued = 1000;
const maxAttempts = 5;
const retryBackoff = { baseMs: 1000, maxMs: 30_000 };

/**
 * Flow: `event` folds what happens into a record (correlator.ts) and puts it in line; one loop writes one record after the
 * other, always in its latest state.
 * Guarantees: bounded memory; nothing runs, and no timer is set, while nothing waits.
 * Caveats: events are for people. Under pressure they are counted instead of written, or dropped: no program may rely on one.
 */
export const createEventRecorder = ({ log, ...options }: EventRecorderOptions): EventRecorder => {
  const { clock } = options;
  const correlator = createCorrelator(clock);
  const writer = createEventWriter(options);
  const waiting = new Set<EventRecord>();
  const closing = new AbortController();
  let accepting = true;
  let dropped = 0;
  let running: Promise<void> | undefined;

  const enqueue = (record: EventRecord): void => {
    if (waiting.size >= maxQueued && !waiting.has(record)) {
      if (dropped++ === 0) log.warn('Dropping events: too many wait to be written', { waiting: waiting.size });
      return;
    }
    waiting.add(record);
    running ??= writeAll();
  };

  /** Each turn either takes a record out of the line for good, or has used up one of its tries: the loop ends. */
  const writeAll = async (): Promise<void> => {
    // Whoever records several events in one go waits for none of them, and finds them folded before the first is written.
    await Promise.resolve();
    for (const record of waiting) {
      await writeOne(record);
      if (closing.signal.aborted) break;
    }
    if (dropped > 0) log.warn('Events were dropped', { dropped });
    dropped = 0;
    // In the same turn as the last look at the line: whatever comes from now on starts the loop again.
    running = undefined;
  };

  const writeOne = async (record: EventRecord): Promise<void> => {
    for (let tries = 1; !closing.signal.aborted; tries++) {
      // Out of line before the write: what happens during it puts the record at the end of the line again.
      waiting.delete(record);
      try {
        return await writer.write(record, closing.signal);
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!isRetryable(error) || tries === maxAttempts) {
          const { involved, event: happening } = record;
          log.warn('Cannot write an event', { error, object: involved, reason: happening.reason, tries });
          return;
        }
        await sleep(clock, retryDelayMs(error, tries), closing.signal);
      }
    }
  };

  return {
    event: (object, happening) => {
      try {
        if (!accepting) return;
        const involved = involvedObjectOf(object);
        if (involved === undefined) {
          log.warn('Cannot record an event: its object has no apiVersion, kind or name', { reason: happening.reason });
          return;
        }
        const record = correlator.observe(involved, happening);
        if (record !== undefined) enqueue(record);
      } catch (error) {
        log.error('Cannot record an event', { error });
      }
    },
    flush: async (deadlineMs) => {
      accepting = false;
      const enough = new AbortController();
      await Promise.race([running, sleep(clock, deadlineMs, enough.signal)]);
      enough.abort();
      closing.abort();
      if (waiting.size > 0) log.warn('Events were lost at the end', { lost: waiting.size });
      waiting.clear();
    },
  };
};

const isRetryable = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests', 'unauthorized', 'conflict');

const retryDelayMs = (error: unknown, tries: number): number =>
  Math.max(backoffMs(retryBackoff, tries), (isKubeError(error) ? error.retryAfterMs : undefined) ?? 0);

interface EventWriterOptions {
  client: Client;
  clock: Clock;
  /** The controller, `example.com/machines`. */
  component: string;
  /** This process among several of them: the name of the Pod. */
  instance: string;
}

/** Puts the latest state of a record on the server. */
interface EventWriter {
  /** Idempotent: the name of a record's Event never changes, so a try whose answer got lost can be repeated. Rejects with KubeError. */
  write(record: EventRecord, signal: AbortSignal): Promise<void>;
}

const writeDeadlineMs = 10_000;

const createEventWriter = ({ client, clock, component, instance }: EventWriterOptions): EventWriter => {
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

  const latest = ({ count, lastAt, event: { message } }: EventRecord) => ({
    count,
    message,
    lastTimestamp: timestamp(lastAt),
  });

  const eventOf = (record: EventRecord): IEvent => {
    const { type, reason, action } = record.event;
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
      reportingInstance: truncate(instance, 128),
    };
  };

  const patch = async (record: EventRecord, signal: AbortSignal): Promise<void> => {
    await client.patch(
      events,
      placeOf(record),
      { type: 'merge', body: latest(record) },
      { signal, deadlineMs: writeDeadlineMs },
    );
  };

  const create = async (record: EventRecord, signal: AbortSignal): Promise<void> => {
    try {
      await client.create(events, eventOf(record), { signal, deadlineMs: writeDeadlineMs });
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
