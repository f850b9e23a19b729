import type { Clock } from '../clock/clock.ts';

/** Keys that are to come later. However many there are, one timer runs: for the one that is due first. */
interface DelayingQueue {
  put(key: string, milliseconds: number): void;
  clear(): void;
  readonly size: number;
}

/** setTimeout counts in 31 bits and fires at once when given more. Longer waits are made of several. */
const maxTimerMs = 2 ** 31 - 1;

export const createDelayingQueue = (clock: Clock, due: (key: string) => void): DelayingQueue => {
  const deadlines = createDeadlineHeap();
  let timer: { at: number; takeBack: () => void } | undefined;

  const disarm = (): void => {
    timer?.takeBack();
    timer = undefined;
  };
  const arm = (): void => {
    const first = deadlines.first();
    if (!first) return disarm();
    if (timer && timer.at <= first.at) return;
    disarm();
    const wait = Math.min(Math.max(first.at - clock.monotonic(), 0), maxTimerMs);
    timer = { at: first.at, takeBack: clock.after(wait, ring) };
  };
  /** Timers may fire a little early: only what is really due is let go, the rest is waited for again. */
  const ring = (): void => {
    timer = undefined;
    const now = clock.monotonic();
    for (let first = deadlines.first(); first && first.at <= now; first = deadlines.first()) {
      deadlines.take();
      due(first.key);
    }
    arm();
  };

  return {
    put: (key, milliseconds) => {
      deadlines.put(key, clock.monotonic() + milliseconds);
      arm();
    },
    clear: () => {
      deadlines.clear();
      disarm();
    },
    get size() {
      return deadlines.size;
    },
  };
};

/** When a key falls due; `order` decides between equal times, first come first served. */
interface Deadline {
  readonly key: string;
  readonly at: number;
  readonly order: number;
}

/** A binary heap with the earliest deadline on top, and at most one deadline per key. */
interface DeadlineHeap {
  /** Of two deadlines for one key the earlier stays. */
  put(key: string, at: number): void;
  first(): Deadline | undefined;
  /** Takes the first one off. */
  take(): Deadline | undefined;
  clear(): void;
  readonly size: number;
}

const isEarlier = (a: Deadline, b: Deadline): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export const createDeadlineHeap = (): DeadlineHeap => {
  let order = 0;
  const heap: Deadline[] = [];
  const positions = new Map<string, number>();

  const place = (deadline: Deadline, position: number): void => {
    heap[position] = deadline;
    positions.set(deadline.key, position);
  };
  const rise = (deadline: Deadline, from: number): void => {
    let position = from;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = heap[parentPosition];
      if (!parent || !isEarlier(deadline, parent)) break;
      place(parent, position);
      position = parentPosition;
    }
    place(deadline, position);
  };
  const sink = (deadline: Deadline): void => {
    let position = 0;
    for (;;) {
      const left = heap[2 * position + 1];
      const right = heap[2 * position + 2];
      const child = left && right && isEarlier(right, left) ? right : left;
      if (!child || !isEarlier(child, deadline)) break;
      const childPosition = child === right ? 2 * position + 2 : 2 * position + 1;
      place(child, position);
      position = childPosition;
    }
    place(deadline, position);
  };

  return {
    put: (key, at) => {
      const position = positions.get(key);
      const known = position === undefined ? undefined : heap[position];
      if (known && known.at <= at) return;
      rise({ key, at, order: order++ }, position ?? heap.length);
    },
    first: () => heap[0],
    take: () => {
      const first = heap[0];
      const last = heap.pop();
      if (!first || !last) return undefined;
      positions.delete(first.key);
      if (last !== first) sink(last);
      return first;
    },
    clear: () => {
      heap.length = 0;
      positions.clear();
    },
    get size() {
      return heap.length;
    },
  };
};
