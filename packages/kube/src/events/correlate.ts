import type { Clock } from '../clock/clock.ts';
import { cut, type Happening, type Involved, objectKey, shortened } from './happening.ts';
import { recent } from './recent.ts';

/** One Event object: what happened once or many times. Changes as it happens again; whoever writes it sends the latest. */
export interface EventRecord {
  readonly involved: Involved;
  happening: Happening;
  count: number;
  readonly firstAt: number;
  lastAt: number;
}

/** Folds what happens again and again into few Event objects, and few writes. */
export interface Correlator {
  /** The record to write, or undefined: so much happens to this object that this one is not worth a write. */
  observe(involved: Involved, happening: Happening): EventRecord | undefined;
}

/** client-go's numbers. */
const windowMs = 10 * 60_000;
const mostSimilar = 10;
const burst = 25;
const refillMs = 5 * 60_000;
const remembered = 4096;

/**
 * Flow, as client-go does it: the eleventh different message for one object and reason within ten minutes, and all that
 * follow, become one event, "(combined from similar events): …"; the same event again is counted, not made anew; an object
 * may have 25 writes at once, and one in five minutes after that.
 * Guarantees: memory is bounded. What is not written is counted all the same: a later write of the record carries it.
 */
export const createCorrelator = (clock: Clock): Correlator => {
  const groups = recent<{ messages: Set<string>; lastAt: number }>(remembered);
  const records = recent<EventRecord>(remembered);
  /** When an object has all of its 25 writes again. */
  const fullAt = recent<number>(remembered);

  const isCombined = (group: string, message: string): boolean => {
    const now = clock.monotonic();
    let known = groups.get(group);
    if (known === undefined || now - known.lastAt > windowMs) {
      known = { messages: new Set(), lastAt: now };
      groups.set(group, known);
    }
    known.lastAt = now;
    if (known.messages.size <= mostSimilar) known.messages.add(message);
    return known.messages.size > mostSimilar;
  };

  const mayWrite = (object: string): boolean => {
    const now = clock.monotonic();
    const next = Math.max(fullAt.get(object) ?? now, now) + refillMs;
    if (next - now > burst * refillMs) return false;
    fullAt.set(object, next);
    return true;
  };

  return {
    observe: (involved, given) => {
      const happening = shortened(given);
      const { type, reason, message } = happening;
      const object = objectKey(involved);
      const group = `${object} ${JSON.stringify([type, reason])}`;
      const combined = isCombined(group, message);
      const key = combined ? group : `${group} ${JSON.stringify(message)}`;
      const shown = combined
        ? { ...happening, message: cut(`(combined from similar events): ${message}`, 1024) }
        : happening;
      const now = clock.now();
      let record = records.get(key);
      if (record === undefined || now - record.lastAt > windowMs) {
        record = { involved, happening: shown, count: 0, firstAt: now, lastAt: now };
        records.set(key, record);
      }
      record.count += 1;
      record.lastAt = Math.max(record.lastAt, now);
      record.happening = shown;
      return mayWrite(object) ? record : undefined;
    },
  };
};
