import { annotations, labels, labelValues } from '@tartan/api';
import { isLabelKey, isLabelValue } from '../flags/node-labels.ts';
import type { Snapshot } from './snapshot.ts';

type Texts = Readonly<Record<string, string>>;
/** `null` takes a key away. */
type TextChanges = Readonly<Record<string, string | null>>;

export interface MetadataChanges {
  readonly labels?: TextChanges;
  readonly annotations?: TextChanges;
}

/** Ours to prune; labels of all others stay as they are (INC-44). */
const ownPrefix = 'tuist.dev/';

/** One bad key would fail the whole write, and with it all others (INC-43). */
const soundOnes = (found: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(found).filter(([key, value]) => isLabelKey(key) && isLabelValue(value)));

/** What is always so comes last: nobody can be told that this Mac is a Linux. */
export const wantedLabels = ({ wanted, facts }: Snapshot): Texts => ({
  ...soundOnes(facts.labels),
  ...wanted.nodeLabels,
  [labels.os]: labelValues.os,
  'kubernetes.io/arch': 'arm64',
  'kubernetes.io/hostname': wanted.nodeName,
  [labels.runtime]: labelValues.runtime,
});

/** What the Mac bears and who says so. Stamps that cannot be read are not published as none. */
export const wantedAnnotations = ({ wanted, summary }: Snapshot): Texts => ({
  [annotations.agentVersion]: wanted.agentVersion,
  ...(summary === undefined ? {} : { [annotations.hostConfigHash]: summary }),
});

const differing = (before: Texts, after: Texts): Texts =>
  Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value));

/** Labels of ours that have had their day. None as long as it is not known which ones there should be. */
const pruned = (before: Texts, after: Texts, { facts }: Snapshot): TextChanges =>
  facts.labels === undefined
    ? {}
    : Object.fromEntries(
        Object.keys(before)
          .filter((key) => key.startsWith(ownPrefix) && !(key in after))
          .map((key) => [key, null]),
      );

const isEmpty = (changes: TextChanges): boolean => Object.keys(changes).length === 0;

/** What to write of labels and annotations; `undefined` when all is as it should be. */
export const metadataChanges = (snapshot: Snapshot): MetadataChanges | undefined => {
  const before = snapshot.node?.metadata;
  const old = before?.labels ?? {};
  const after = wantedLabels(snapshot);
  const changed = { ...differing(old, after), ...pruned(old, after, snapshot) };
  const noted = differing(before?.annotations ?? {}, wantedAnnotations(snapshot));
  if (isEmpty(changed) && isEmpty(noted)) return undefined;
  return { ...(isEmpty(changed) ? {} : { labels: changed }), ...(isEmpty(noted) ? {} : { annotations: noted }) };
};
