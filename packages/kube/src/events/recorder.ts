import type { Client } from '../client/client.ts';
import { type Clock, sleep, timestamp } from '../clock/clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import { events } from '../objects/builtin.ts';
import type { KubeObject } from '../objects/object.ts';
import { backoffMs } from '../workqueue/rate-limiter.ts';
import { createCorrelator, type EventRecord } from './correlator.ts';
import { type EventInput, eventName, involvedObjectOf, truncate } from './event.ts';

interface EventRecorderOptions {
  client: Client;
  clock: Clock;
  log: Logger;
  /** The controller, `example.com/machines`. */
  component: string;
  /** This process among several of them: the name of the Pod. */
  instance: string;
}

/** Writes Events about objects. */
export interface EventRecorder {
  /** Never throws, never waits. The object must have an apiVersion and a kind. */
  event(object: KubeObject, event: EventInput): void;
  /** Writes what is queued, for at most that time, and accepts nothing more. What is not written by then is lost. Never rejects. */
  flush(deadlineMs: number): Promise<void>;
}

/** Each record is queued once, however often it is repeated meanwhile. */
const maxQueued = 1000;
const writeDeadlineMs = 10_000;
const maxAttempts = 5;
const retryBackoff = { baseMs: 1000, maxMs: 30_000 };

/**
 * Flow: `event` folds events into records (correlator.ts) and queues them; one loop writes one record after the other, always in its
 * latest state.
 * Guarantees: bounded memory; nothing runs, and no timer is set, while nothing is queued.
 * Caveats: under pressure events are counted instead of written, or dropped: no program may rely on one.
 */
export const createEventRecorder = ({
  client,
  clock,
  log,
  component,
  instance,
}: EventRecorderOptions): EventRecorder => {
  const correlator = createCorrelator(clock);
  const queued = new Set<EventRecord>();
  const stored = new WeakSet<EventRecord>();
  const closing = new AbortController();
  const options = { signal: closing.signal, deadlineMs: writeDeadlineMs };
  let accepting = true;
  let dropped = 0;
  let running: Promise<void> | undefined;

  /** The server requires events of objects without a namespace in `default`. */
  const metadataOf = ({ involved, firstAt, sequence }: EventRecord) => ({
    name: eventName(involved, instance, firstAt, sequence),
    namespace: involved.namespace ?? 'default',
  });

  const latest = ({ count, lastAt, event: { message } }: EventRecord) => ({
    count,
    message,
    lastTimestamp: timestamp(lastAt),
  });

  const patch = async (record: EventRecord): Promise<void> => {
    await client.patch(events, metadataOf(record), { type: 'merge', body: latest(record) }, options);
  };

  const create = async (record: EventRecord): Promise<void> => {
    const { involved, event, firstAt } = record;
    try {
      await client.create(
        events,
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: metadataOf(record),
          involvedObject: involved,
          type: event.type,
          reason: event.reason,
          firstTimestamp: timestamp(firstAt),
          ...latest(record),
          source: { component },
          reportingComponent: component,
          reportingInstance: truncate(instance, 128),
        },
        options,
      );
    } catch (error) {
      // An earlier try did get through.
      if (!isKubeError(error, 'alreadyExists')) throw error;
      await patch(record);
    }
    stored.add(record);
  };

  /** Idempotent: the name of a record's Event never changes, so a try whose answer got lost can be repeated. */
  const write = async (record: EventRecord): Promise<void> => {
    if (!stored.has(record)) return create(record);
    try {
      await patch(record);
    } catch (error) {
      // The server forgets events after an hour.
      if (!isKubeError(error, 'notFound')) throw error;
      stored.delete(record);
      await create(record);
    }
  };

  const enqueue = (record: EventRecord): void => {
    if (queued.size >= maxQueued && !queued.has(record)) {
      if (dropped++ === 0) log.warn('Dropping events: too many wait to be written', { waiting: queued.size });
      return;
    }
    queued.add(record);
    running ??= writeAll();
  };

  const writeAll = async (): Promise<void> => {
    // Events that are recorded in one go are folded before the first is written.
    await Promise.resolve();
    for (const record of queued) {
      await writeOne(record);
      if (closing.signal.aborted) break;
    }
    if (dropped > 0) log.warn('Events were dropped', { dropped });
    dropped = 0;
    // Synchronously after the end of the loop: the next event starts the loop again.
    running = undefined;
  };

  const writeOne = async (record: EventRecord): Promise<void> => {
    for (let tries = 1; !closing.signal.aborted; tries++) {
      // Dequeued before the write: an event during the write queues the record again.
      queued.delete(record);
      try {
        return await write(record);
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!isRetryable(error) || tries === maxAttempts) {
          const { involved, event } = record;
          log.warn('Cannot write an event', { error, object: involved, reason: event.reason, tries });
          return;
        }
        await sleep(clock, retryDelayMs(error, tries), closing.signal);
      }
    }
  };

  return {
    event: (object, event) => {
      try {
        if (!accepting) return;
        const involved = involvedObjectOf(object);
        if (involved === undefined) {
          log.warn('Cannot record an event: its object has no apiVersion, kind or name', { reason: event.reason });
          return;
        }
        const record = correlator.observe(involved, event);
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
      if (queued.size > 0) log.warn('Events were lost at the end', { lost: queued.size });
      queued.clear();
    },
  };
};

const isRetryable = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests', 'unauthorized', 'conflict');

const retryDelayMs = (error: unknown, tries: number): number =>
  Math.max(backoffMs(retryBackoff, tries), (isKubeError(error) ? error.retryAfterMs : undefined) ?? 0);
