import { setImmediate, setTimeout } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';

/** Real time for tests that work with other processes, sockets or files. */

/** Longer than a busy machine needs: only a hanging test reaches it. */
const limitMs = 10 * 60_000;
const firstPauseMs = 1;
const longestPauseMs = 50;

/** For calls in tests that take a signal. */
export const testDeadline = (): AbortSignal => AbortSignal.timeout(limitMs);

/** Polls until `probe` returns something, for state without events. `what` completes "waited in vain until". */
export const eventually = async <T>(
  what: string,
  probe: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> => {
  const deadline = testDeadline();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.1)) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (deadline.aborted) throw new Error(`waited in vain until ${what}`);
    await setTimeout(pauseMs);
  }
};

/**
 * Lets everything happen that waits for no clock, file, socket or process: promises, and what the embedded API server does between them.
 * How many turns that takes does not depend on the speed of the machine.
 */
export const settle = async (turns = 60): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
};

const tickMs = 5;
const longestTickMs = 25;

/**
 * A clock that runs `speed` times as fast as real time, for waits of minutes. It advances only a few milliseconds per event loop turn,
 * so it slows down with a busy machine. `stop` cancels its timers.
 */
export const fasterClock = (speed: number): ManualClock & { stop(): void } => {
  const { now, monotonic, after, advance } = manualClock(systemClock.now());
  let last = systemClock.monotonic();
  const tick = (): void => {
    const passed = Math.min(longestTickMs, systemClock.monotonic() - last);
    last = systemClock.monotonic();
    advance(Math.trunc(passed * speed));
  };
  const timer = setInterval(tick, tickMs);
  return { now, monotonic, after, advance, stop: () => clearInterval(timer) };
};

/** The longest delay of a Node timer. */
const longestTimerMs = 2 ** 31 - 1;

/** The real clock, which a test can move forward. */
export const adjustableClock = (aheadMs = 0): ManualClock => {
  let ahead = aheadMs;
  const timers = new Set<{ readonly due: number; readonly run: () => void; cancel: () => void }>();
  const monotonic = (): number => systemClock.monotonic() + ahead;
  const fireAt = (due: number, run: () => void): (() => void) =>
    systemClock.after(Math.min(longestTimerMs, Math.max(0, due - monotonic())), run);
  return {
    now: () => systemClock.now() + ahead,
    monotonic,
    after: (milliseconds, run) => {
      const due = monotonic() + milliseconds;
      const fire = (): void => {
        timers.delete(timer);
        run();
      };
      const timer = { due, run: fire, cancel: fireAt(due, fire) };
      timers.add(timer);
      return () => {
        timer.cancel();
        timers.delete(timer);
      };
    },
    advance: (milliseconds) => {
      ahead += milliseconds;
      for (const timer of timers) {
        timer.cancel();
        timer.cancel = fireAt(timer.due, timer.run);
      }
    },
  };
};
