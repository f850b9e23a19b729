import assert from 'node:assert/strict';
import type { EventStream, WatchEvent } from './cluster.ts';
import { within } from './within.ts';

/** One open watch, read event by event. */
export interface Watching {
  /** The next event, whatever it is. */
  next(): Promise<WatchEvent>;
  /** Reads up to the first event that fits, and returns all events including it. */
  until(fits: (event: WatchEvent) => boolean): Promise<WatchEvent[]>;
  /** All events until the server ends the stream. */
  rest(): Promise<WatchEvent[]>;
  close: () => void;
}

const brief = (events: readonly WatchEvent[]): string =>
  events.map((event) => `${event.type} ${event.object.metadata?.name ?? ''}`).join(', ') || 'nothing';

export const watching = (stream: EventStream): Watching => {
  const iterator = stream.events[Symbol.asyncIterator]();
  const seen: WatchEvent[] = [];

  const pull = async (): Promise<WatchEvent | undefined> => {
    const result = await iterator.next();
    if (result.done) return undefined;
    seen.push(result.value);
    return result.value;
  };

  const next = async (): Promise<WatchEvent> => {
    const event = await within(pull(), () => `a watch event; so far: ${brief(seen)}`);
    assert.ok(event, `the watch ended; so far: ${brief(seen)}`);
    return event;
  };

  return {
    next,
    until: async (fits) => {
      const events: WatchEvent[] = [];
      for (;;) {
        const event = await next();
        events.push(event);
        if (fits(event)) return events;
      }
    },
    rest: async () => {
      const events: WatchEvent[] = [];
      for (;;) {
        const event = await within(pull(), () => `the end of a watch; so far: ${brief(seen)}`);
        if (!event) return events;
        events.push(event);
      }
    },
    close: stream.close,
  };
};
