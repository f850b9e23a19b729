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
  /** The controller's name: `example.com/machines`. */
  component: string;
  /** This replica: the Pod's name. */
  instance: string;
}

/** Writes Events about objects. */
export interface EventRecorder {
  /** Never throws, never blocks. The object must have an apiVersion and a kind. */
  event(object: KubeObject, event: EventInput): void;
  /** Writes queued events for at most that time, and accepts no more. The rest is lost. Never rejects. */
  flush(deadlineMs: number): Promise<void>;
}

/** A record is queued once, however often its event repeats. */
const maxQueued = 1000;
const writeDeadlineMs = 10_000;
const maxAttempts = 5;
const retryBackoff = { baseMs: 1000, maxMs: 30_000 };

/**
 * Flow: `event` aggregates events into records (correlator.ts) and queues them; one loop writes the records one by one, each in its
 * latest state.
 * Guarantees: bounded memory; while the queue is empty, nothing runs and no timer is set.
 * Caveats: under load, events are counted instead of written, or dropped: no program may rely on one.
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

  /** The API server requires events of cluster-scoped objects to be in `default`. */
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
      // An earlier attempt succeeded without our seeing the response.
      if (!isKubeError(error, 'alreadyExists')) throw error;
      await patch(record);
    }
    stored.add(record);
  };

  /** Idempotent: a record's Event keeps its name, so a write whose response was lost can be retried. */
  const write = async (record: EventRecord): Promise<void> => {
    if (!stored.has(record)) return create(record);
    try {
      await patch(record);
    } catch (error) {
      // The API server deletes events after an hour.
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
    // Lets events recorded in the same turn be aggregated before the first write.
    await Promise.resolve();
    for (const record of queued) {
      await writeOne(record);
      if (closing.signal.aborted) break;
    }
    if (dropped > 0) log.warn('Events were dropped', { dropped });
    dropped = 0;
    // Set synchronously after the loop ends: the next event starts the loop again.
    running = undefined;
  };

  const writeOne = async (record: EventRecord): Promise<void> => {
    for (let tries = 1; !closing.signal.aborted; tries++) {
      // Dequeued before the write, so that an event during the write queues the record again.
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
