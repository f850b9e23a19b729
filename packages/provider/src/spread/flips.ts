import { isDeepStrictEqual } from 'node:util';
import type { CacheChange } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type Labels, matches, type Node, readyMac } from './membership.ts';

/**
 * When Nodes last joined or left the Ready Macs: one that flaps between two passes is noticed too. Kept per set of labels, so that
 * a sibling fleet that flaps keeps nobody else waiting. Memory only: a process that starts anew has seen everybody join just now.
 */
export interface Flips {
  /** Whether this change was one. */
  follow(change: CacheChange<Node>): boolean;
  /** For how long no Node that matches has joined or left; Infinity when that is longer than flips are remembered. */
  quietForMs(selector: Labels): number;
  forgetAll(): void;
}

export const createFlips = (clock: Pick<Clock, 'monotonic'>, rememberMs: number): Flips => {
  let flips: { labels: Labels; at: number }[] = [];
  return {
    follow: (change) => {
      const before = readyMac(change.type === 'added' ? undefined : change.previous);
      const after = readyMac(change.type === 'removed' ? undefined : change.object);
      if (isDeepStrictEqual(before, after)) return false;
      const at = clock.monotonic();
      flips = flips.filter((flip) => at - flip.at < rememberMs);
      // As it was and as it is: a Node whose labels change leaves one fleet and joins another.
      for (const labels of [before, after]) if (labels) flips.push({ labels, at });
      return true;
    },
    quietForMs: (selector) => {
      const last = Math.max(...flips.filter(({ labels }) => matches(labels, selector)).map(({ at }) => at), -Infinity);
      return clock.monotonic() - last;
    },
    forgetAll: () => {
      flips = [];
    },
  };
};
