/** First in, first out, each step in constant time on average: an array's `shift` moves everything behind it. */
export interface Line<T> {
  push(item: T): void;
  shift(): T | undefined;
  clear(): T[];
  readonly length: number;
}

/** Below this many items, the ones already served are not worth the copying. */
const worthCopying = 32;

export const createLine = <T>(): Line<T> => {
  let items: T[] = [];
  let served = 0;
  return {
    push: (item) => {
      items.push(item);
    },
    shift: () => {
      if (served === items.length) return undefined;
      const item = items[served++];
      if (served >= worthCopying && served * 2 >= items.length) {
        items = items.slice(served);
        served = 0;
      }
      return item;
    },
    clear: () => {
      const left = items.slice(served);
      items = [];
      served = 0;
      return left;
    },
    get length() {
      return items.length - served;
    },
  };
};
