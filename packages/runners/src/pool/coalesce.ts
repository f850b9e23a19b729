import type { Source } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/**
 * The same keys, a moment later, and what comes meanwhile with them. A look costs as much as a pool has Pods, and Pods come in crowds: five
 * hundred that go at once would be five hundred looks.
 */
export const coalesced =
  (source: Source, clock: Clock, milliseconds: number): Source =>
  (enqueue, report) => {
    const waiting = new Map<string, () => void>();
    const end = source((key) => {
      if (waiting.has(key)) return;
      const deliver = (): void => {
        waiting.delete(key);
        enqueue(key);
      };
      waiting.set(key, clock.after(milliseconds, deliver));
    }, report);
    return () => {
      end();
      for (const takeBack of waiting.values()) takeBack();
      waiting.clear();
    };
  };
