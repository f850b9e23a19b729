import { sleep } from '../clock/sleep.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { KubeObject } from '../objects/object.ts';
import { createCorrelator, type EventRecord } from './correlate.ts';
import { createEventWriter, type EventWriterOptions } from './event-writer.ts';
import { type Happening, involvedOf } from './happening.ts';

export interface EventRecorderOptions extends EventWriterOptions {
  log: Logger;
}

/** Tells users, by Events, what happens to an object. */
export interface EventRecorder {
  /** Never throws, never waits. The object must say its apiVersion and kind. */
  event(object: KubeObject, happening: Happening): void;
  /**
   * The end: writes what waits, for at most that time, and takes nothing more. What is not written by then is lost. Never
   * rejects.
   */
  flush(deadlineMs: number): Promise<void>;
}

/** Records that wait. Each is in line once, however often it happens meanwhile. */
const mostWaiting = 1000;
const mostTries = 5;
const firstPauseMs = 1000;

/**
 * Flow: `event` folds what happens into a record (correlate.ts) and puts it in line; one loop writes one record after the
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
    if (waiting.size >= mostWaiting && !waiting.has(record)) {
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
        if (!isWorthAnotherTry(error) || tries === mostTries) {
          const { involved, happening } = record;
          log.warn('Cannot write an event', { error, object: involved, reason: happening.reason, tries });
          return;
        }
        await sleep(clock, pauseAfter(error, tries), closing.signal);
      }
    }
  };

  return {
    event: (object, happening) => {
      try {
        if (!accepting) return;
        const involved = involvedOf(object);
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

const isWorthAnotherTry = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests', 'unauthorized', 'conflict');

const pauseAfter = (error: unknown, tries: number): number =>
  Math.max(firstPauseMs * 2 ** (tries - 1), (isKubeError(error) ? error.retryAfterMs : undefined) ?? 0);
