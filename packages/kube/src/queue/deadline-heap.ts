/** When a key falls due; `order` decides between equal times, first come first served. */
interface Deadline {
  readonly key: string;
  readonly at: number;
  readonly order: number;
}

/** A binary heap with the earliest deadline on top, and at most one deadline per key. */
export interface DeadlineHeap {
  /** Of two deadlines for one key the earlier stays. */
  put(key: string, at: number): void;
  first(): Deadline | undefined;
  /** Takes the first one off. */
  take(): Deadline | undefined;
  clear(): void;
  readonly size: number;
}

const sooner = (a: Deadline, b: Deadline): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

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
      if (!parent || !sooner(deadline, parent)) break;
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
      const child = left && right && sooner(right, left) ? right : left;
      if (!child || !sooner(child, deadline)) break;
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
