import type { Clock } from '../clock/clock.ts';
import { createLruCache } from '../lru-cache.ts';
import { createTokenBucket, type TokenBucket } from '../workqueue/rate-limiter.ts';
import { type EventInput, type InvolvedObject, objectKey, truncate } from './event.ts';

/** One Event object. A repeated event updates it. */
export interface EventRecord {
  readonly involved: InvolvedObject;
  /** Unique among the records of this process. */
  readonly sequence: number;
  event: EventInput;
  count: number;
  readonly firstAt: number;
  lastAt: number;
}

/** Aggregates repeated events into few Event objects and few writes. */
interface Correlator {
  /** The record to write; undefined when the object's write rate is exceeded. */
  observe(involved: InvolvedObject, event: EventInput): EventRecord | undefined;
}

/** client-go's defaults. */
const windowMs = 10 * 60_000;
const maxSimilarEvents = 10;
const writes = { perSecond: 1 / 300, burst: 25 };
const cacheSize = 4096;
/** The API server's limit. */
const maxMessageBytes = 1024;

/**
 * Flow, as in client-go: from the eleventh different message for one object and reason within ten minutes on, messages are
 * aggregated into one event, "(combined from similar events): …"; a repeated event increases the count; an object may have
 * a burst of 25 writes, then one per five minutes.
 * Guarantees: bounded memory. An event that is not written is still counted: a later write of the record includes it.
 */
export const createCorrelator = (clock: Clock): Correlator => {
  const groups = createLruCache<{ messages: Set<string>; lastAt: number }>(cacheSize);
  const records = createLruCache<EventRecord>(cacheSize);
  const buckets = createLruCache<TokenBucket>(cacheSize);

  let sequence = 0;

  const isCombined = (group: string, message: string): boolean => {
    const now = clock.monotonic();
    let known = groups.get(group);
    if (known === undefined || now - known.lastAt > windowMs) {
      known = { messages: new Set(), lastAt: now };
      groups.set(group, known);
    }
    known.lastAt = now;
    if (known.messages.size <= maxSimilarEvents) known.messages.add(message);
    return known.messages.size > maxSimilarEvents;
  };

  const mayWrite = (object: string): boolean => {
    const bucket = buckets.get(object) ?? createTokenBucket(clock, writes);
    buckets.set(object, bucket);
    return bucket.allow();
  };

  return {
    observe: (involved, { type, reason, message: text }) => {
      const message = truncate(text, maxMessageBytes);
      const object = objectKey(involved);
      const group = `${object} ${JSON.stringify([type, reason])}`;
      const combined = isCombined(group, message);
      const key = combined ? group : `${group} ${JSON.stringify(message)}`;
      const shown = combined ? truncate(`(combined from similar events): ${message}`, maxMessageBytes) : message;
      const event = { type, reason, message: shown };
      const now = clock.now();
      let record = records.get(key);
      if (record === undefined || now - record.lastAt > windowMs) {
        record = { involved, sequence: sequence++, event, count: 0, firstAt: now, lastAt: now };
        records.set(key, record);
      }
      record.count += 1;
      record.lastAt = Math.max(record.lastAt, now);
      record.event = event;
      return mayWrite(object) ? record : undefined;
    },
  };
};
