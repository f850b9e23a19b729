import { annotations, labels, labelValues } from '@tartan/api';
import { isLabelKey, isLabelValue } from '../flags/node-labels.ts';
import type { Snapshot } from './observe.ts';

type StringMap = Readonly<Record<string, string>>;
/** `null` removes a key. */
type StringMapPatch = Readonly<Record<string, string | null>>;

export interface MetadataChanges {
  readonly labels?: StringMapPatch;
  readonly annotations?: StringMapPatch;
}

/** Labels that the agent may remove; it keeps all others (INC-44). */
const ownPrefix = 'tuist.dev/';

/** One invalid key would fail the whole write (INC-43). */
const validLabels = (found: StringMap = {}): StringMap =>
  Object.fromEntries(Object.entries(found).filter(([key, value]) => isLabelKey(key) && isLabelValue(value)));

/** Fixed labels come last: no flag can override the OS. */
export const desiredLabels = ({ config, facts }: Snapshot): StringMap => ({
  ...validLabels(facts.labels),
  ...config.nodeLabels,
  [labels.os]: labelValues.os,
  'kubernetes.io/arch': 'arm64',
  'kubernetes.io/hostname': config.nodeName,
  [labels.runtime]: labelValues.runtime,
});

/** The agent's version and the hash of the host configuration. If the stamps cannot be read, the hash is not published. */
export const desiredAnnotations = ({ config, hostConfigHash }: Snapshot): StringMap => ({
  [annotations.agentVersion]: config.agentVersion,
  ...(hostConfigHash === undefined ? {} : { [annotations.hostConfigHash]: hostConfigHash }),
});

const changedEntries = (before: StringMap, after: StringMap): StringMap =>
  Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value));

/** Our labels that are obsolete. None while the desired labels are unknown. */
const removedLabels = (before: StringMap, after: StringMap, { facts }: Snapshot): StringMapPatch =>
  facts.labels === undefined
    ? {}
    : Object.fromEntries(
        Object.keys(before)
          .filter((key) => key.startsWith(ownPrefix) && !(key in after))
          .map((key) => [key, null]),
      );

const isEmpty = (changes: StringMapPatch): boolean => Object.keys(changes).length === 0;

/** The changes of labels and annotations; `undefined` if there are none. */
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
