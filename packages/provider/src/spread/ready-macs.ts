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
 * The labels of a Node that is a Ready Mac; otherwise undefined. Uses the Node's condition and not the phase of its machine, which is Ready
 * before the first heartbeat.
 */
export const readyMacLabels = (node: Node | undefined): Labels | undefined => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return undefined;
  const has = node.metadata?.labels ?? {};
  const ready = (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && matchesLabels(has, macLabels) ? has : undefined;
};

/**
 * When Nodes last joined or left the Ready Macs, including flaps between two passes. By labels, so that a flapping fleet does not delay
 * others. In memory only: to a new process all have just joined.
 */
export const createReadyMacTracker = (clock: Pick<Clock, 'monotonic'>, rememberMs: number) => {
  let flips: { labels: Labels; at: number }[] = [];
  return {
    /** Whether the change was a join or leave. */
    record: (change: InformerEvent<Node>): boolean => {
      const before = readyMacLabels(change.type === 'added' ? undefined : change.previous);
      const after = readyMacLabels(change.type === 'removed' ? undefined : change.object);
      if (isDeepStrictEqual(before, after)) return false;
      const at = clock.monotonic();
      flips = flips.filter((flip) => at - flip.at < rememberMs);
      // Both: a Node whose labels change leaves one fleet and joins another.
      for (const labels of [before, after]) if (labels) flips.push({ labels, at });
      return true;
    },
    /** How long no matching Node has joined or left; Infinity if longer than `rememberMs`. */
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
