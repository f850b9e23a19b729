import { annotations, labels, labelValues } from '@tartan/api';
import { isLabelKey, isLabelValue } from '../flags/node-labels.ts';
import type { Snapshot } from './observe.ts';

type StringMap = Readonly<Record<string, string>>;
/** `null` takes a key away. */
type StringMapPatch = Readonly<Record<string, string | null>>;

export interface MetadataChanges {
  readonly labels?: StringMapPatch;
  readonly annotations?: StringMapPatch;
}

/** Ours to prune; labels of all others stay as they are (INC-44). */
const ownPrefix = 'tuist.dev/';

/** One bad key would fail the whole write, and with it all others (INC-43). */
const validLabels = (found: StringMap = {}): StringMap =>
  Object.fromEntries(Object.entries(found).filter(([key, value]) => isLabelKey(key) && isLabelValue(value)));

/** What is always so comes last: no flag can make this Mac a Linux. */
export const desiredLabels = ({ config, facts }: Snapshot): StringMap => ({
  ...validLabels(facts.labels),
  ...config.nodeLabels,
  [labels.os]: labelValues.os,
  'kubernetes.io/arch': 'arm64',
  'kubernetes.io/hostname': config.nodeName,
  [labels.runtime]: labelValues.runtime,
});

/** What the Mac bears and who says so. Stamps that cannot be read are not published as none. */
export const desiredAnnotations = ({ config, hostConfigHash }: Snapshot): StringMap => ({
  [annotations.agentVersion]: config.agentVersion,
  ...(hostConfigHash === undefined ? {} : { [annotations.hostConfigHash]: hostConfigHash }),
});

const changedEntries = (before: StringMap, after: StringMap): StringMap =>
  Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value));

/** Labels of ours that have had their day. None as long as it is not known which ones there should be. */
const removedLabels = (before: StringMap, after: StringMap, { facts }: Snapshot): StringMapPatch =>
  facts.labels === undefined
    ? {}
    : Object.fromEntries(
        Object.keys(before)
          .filter((key) => key.startsWith(ownPrefix) && !(key in after))
          .map((key) => [key, null]),
      );

const isEmpty = (changes: StringMapPatch): boolean => Object.keys(changes).length === 0;

/** What to write of labels and annotations; `undefined` when all is as it should be. */
export const metadataChanges = (snapshot: Snapshot): MetadataChanges | undefined => {
  const before = snapshot.node?.metadata;
  const old = before?.labels ?? {};
  const after = desiredLabels(snapshot);
  const changedLabels = { ...changedEntries(old, after), ...removedLabels(old, after, snapshot) };
  const changedAnnotations = changedEntries(before?.annotations ?? {}, desiredAnnotations(snapshot));
  if (isEmpty(changedLabels) && isEmpty(changedAnnotations)) return undefined;
  return {
    ...(isEmpty(changedLabels) ? {} : { labels: changedLabels }),
    ...(isEmpty(changedAnnotations) ? {} : { annotations: changedAnnotations }),
  };
};
