import { isDeepStrictEqual } from 'node:util';
import { labels, labelValues } from '@tartan/api';
import type { InformerEvent } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Node } from '../controller-deps.ts';

type Labels = Readonly<Record<string, string>>;

const macLabels: Labels = { [labels.os]: labelValues.os, [labels.runtime]: labelValues.runtime };

export const matchesLabels = (has: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => has[key] === value);

/**
 * The labels by which a Node counts as a Ready Mac; undefined while it does not. By the Node's own word and not by the phase of
 * its machine, which turns Ready before the first heartbeat.
 */
export const readyMacLabels = (node: Node | undefined): Labels | undefined => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return undefined;
  const has = node.metadata?.labels ?? {};
  const ready = (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && matchesLabels(has, macLabels) ? has : undefined;
};

/**
 * When Nodes last joined or left the Ready Macs: one that flaps between two passes is noticed too. Kept per set of labels, so that
 * a sibling fleet that flaps keeps nobody else waiting. Memory only: a process that starts anew has seen everybody join just now.
 */
export const createReadyMacTracker = (clock: Pick<Clock, 'monotonic'>, rememberMs: number) => {
  let flips: { labels: Labels; at: number }[] = [];
  return {
    /** Whether this change was one. */
    record: (change: InformerEvent<Node>): boolean => {
      const before = readyMacLabels(change.type === 'added' ? undefined : change.previous);
      const after = readyMacLabels(change.type === 'removed' ? undefined : change.object);
      if (isDeepStrictEqual(before, after)) return false;
      const at = clock.monotonic();
      flips = flips.filter((flip) => at - flip.at < rememberMs);
      // As it was and as it is: a Node whose labels change leaves one fleet and joins another.
      for (const labels of [before, after]) if (labels) flips.push({ labels, at });
      return true;
    },
    /** For how long no Node that matches has joined or left; Infinity when that is longer than flips are remembered. */
    stableForMs: (selector: Labels): number => {
      const last = Math.max(
        ...flips.filter(({ labels }) => matchesLabels(labels, selector)).map(({ at }) => at),
        -Infinity,
      );
      return clock.monotonic() - last;
    },
    clear: (): void => {
      flips = [];
    },
  };
};

export type ReadyMacTracker = ReturnType<typeof createReadyMacTracker>;
