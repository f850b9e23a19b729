import type { VmEntry } from '@tartan/tart';
import { goldenName, isGoldenName } from '../images/golden-name.ts';
import { parseReference, pinnedText, tagText } from '../images/reference.ts';
import type { PodOnNode, Snapshot } from './snapshot.ts';

/** What the Pods of this Node need. */
export interface Needs {
  readonly vms: ReadonlySet<string>;
  isImageNeeded(repository: string, digest: string): boolean;
  isGoldenNeeded(golden: string): boolean;
  /** A Pod that needs it has a virtual machine that is on. */
  isGoldenBehindLiveVm(golden: string): boolean;
}

/** `repository@digest` of a name as a Pod or `tart list` has it; `undefined`: a tag of which nobody knows where it points. */
export const pinnedOf = (name: string, tags: Snapshot['tags']) => {
  const reference = parseReference(name);
  if (reference === undefined) return undefined;
  const { repository } = reference;
  const digest = reference.digest ?? tags.get(tagText(reference));
  return digest === undefined ? undefined : { repository, digest };
};

export const needsOf = (pods: readonly PodOnNode[], tags: Snapshot['tags'], isLive: (vm: string) => boolean): Needs => {
  const images = new Set<string>();
  const goldens = new Set<string>();
  const behindLive = new Set<string>();
  /** A tag that nobody can resolve may mean any digest of its repository, and so any base (INC-48). */
  const unresolved = new Set<string>();
  for (const pod of pods)
    for (const name of pod.images) {
      const reference = parseReference(name);
      const pinned = pinnedOf(name, tags);
      if (pinned === undefined) {
        if (reference !== undefined) unresolved.add(reference.repository);
        continue;
      }
      images.add(pinnedText(pinned));
      goldens.add(goldenName(pinned));
      if (pod.vm !== undefined && isLive(pod.vm)) behindLive.add(goldenName(pinned));
    }
  return {
    vms: new Set(pods.flatMap(({ vm }) => vm ?? [])),
    isImageNeeded: (repository, digest) => unresolved.has(repository) || images.has(pinnedText({ repository, digest })),
    isGoldenNeeded: (golden) => unresolved.size > 0 || goldens.has(golden),
    isGoldenBehindLiveVm: (golden) => behindLive.has(golden),
  };
};

export const isGolden = ({ source, name }: VmEntry): boolean => source === 'local' && isGoldenName(name);
