import { labels, labelValues } from '@tartan/api';
import type { nodes } from '@tartan/kube';

export type Node = NonNullable<(typeof nodes)['ofType']>;
export type Labels = Readonly<Record<string, string>>;

const ofAnyMac: Labels = { [labels.os]: labelValues.os, [labels.runtime]: labelValues.runtime };

export const matches = (has: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => has[key] === value);

/**
 * The labels by which a Node counts as a Ready Mac; undefined while it does not. By the Node's own word and not by the phase of
 * its machine, which turns Ready before the first heartbeat.
 */
export const readyMac = (node: Node | undefined): Labels | undefined => {
  if (node === undefined || node.metadata?.deletionTimestamp !== undefined) return undefined;
  const has = node.metadata?.labels ?? {};
  const ready = (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && matches(has, ofAnyMac) ? has : undefined;
};
