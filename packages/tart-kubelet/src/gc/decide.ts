import type { VmEntry } from '@tartan/tart';
import {
  formatDigestReference,
  formatTagReference,
  goldenName,
  isGoldenName,
  parseReference,
  type PinnedImage,
} from '../images/image-reference.ts';
import type { PodOnNode, Snapshot } from './observe.ts';

/** Why it is deleted. */
export type GarbageReason =
  /** A clone whose Pod is gone. */
  | 'orphan clone'
  /** An image that no Pod and no golden base needs. */
  | 'stale image'
  /** Unused for longer than the retention time. */
  | 'stale golden base'
  /** Still useful, but the disk is too full. */
  | 'under pressure';

export interface Deletion {
  readonly kind: 'virtual machine' | 'image';
  /** The name for `tart delete`. */
  readonly name: string;
  /** The key of its ownership record: the name, or the `repository@digest` that a tag points to. */
  readonly ownershipKey: string;
  readonly reason: GarbageReason;
}

type InUseReason = 'running' | 'in use by tart' | 'files are open' | 'held';

type Decision =
  | { readonly kind: 'abort'; readonly why: 'the Pods are not known' | 'the virtual machines are not known' }
  | {
      readonly kind: 'collect';
      readonly deletions: readonly Deletion[];
      /** Garbage, but in use. */
      readonly inUse: readonly { readonly name: string; readonly reason: InUseReason }[];
      /** The disk is too full: observe again after these deletions. */
      readonly pressure: boolean;
      /** Last use of the golden bases, for the next run. */
      readonly lastUsed: ReadonlyMap<string, number>;
    };

/** `repository@digest` for a name in a Pod or in `tart list`; `undefined`: a tag that cannot be resolved. */
export const pinnedImage = (name: string, tags: Snapshot['tags']) => {
  const reference = parseReference(name);
  if (reference === undefined) return undefined;
  const { repository } = reference;
  const digest = reference.digest ?? tags.get(formatTagReference(reference));
  return digest === undefined ? undefined : { repository, digest };
};

/** What the Pods of this Node need. */
const podNeeds = (pods: readonly PodOnNode[], tags: Snapshot['tags'], isLive: (vm: string) => boolean) => {
  const images = new Set<string>();
  const goldens = new Set<string>();
  const behindLive = new Set<string>();
  /** An unresolved tag may mean any digest of its repository, and so any base (INC-48). */
  const unresolved = new Set<string>();
  for (const pod of pods)
    for (const name of pod.images) {
      const reference = parseReference(name);
      const pinned = pinnedImage(name, tags);
      if (pinned === undefined) {
        if (reference !== undefined) unresolved.add(reference.repository);
        continue;
      }
      images.add(formatDigestReference(pinned));
      goldens.add(goldenName(pinned));
      if (pod.vm !== undefined && isLive(pod.vm)) behindLive.add(goldenName(pinned));
    }
  return {
    vms: new Set(pods.flatMap(({ vm }) => vm ?? [])),
    isImageNeeded: (image: PinnedImage) => unresolved.has(image.repository) || images.has(formatDigestReference(image)),
    isGoldenNeeded: (golden: string) => unresolved.size > 0 || goldens.has(golden),
    /** A Pod that needs it has a running VM. */
    isGoldenBehindLiveVm: (golden: string) => behindLive.has(golden),
  };
};

const isGolden = ({ source, name }: VmEntry): boolean => source === 'local' && isGoldenName(name);

/** Pods may come back the next day, and pulling a base again costs 40 GB and minutes (INC-47). */
export const retentionMs = 24 * 60 * 60 * 1000;

/** Above the 10 % of DiskPressure, so that space is freed before the Node rejects Pods. */
const minFreeFraction = 0.15;

/** Without any base, the next Pod starts as slowly as on a new Mac. */
const minGoldenBases = 1;

/** First what costs nothing, last what must be pulled again. */
const evictionOrder = { orphan: 0, 'stale image': 1, idle: 2, needed: 3 } as const;

interface Candidate extends Deletion {
  readonly rank: keyof typeof evictionOrder;
  /** The base itself, or the base that shares its blocks. */
  readonly base: VmEntry | undefined;
}

/** The first call of localeCompare would load 3 MB of ICU data for as long as the agent runs. */
const compareText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const isUnderDiskPressure = ({ disk, outOfSpace }: Snapshot): boolean =>
  outOfSpace || (disk !== 'unknown' && disk.freeBytes < disk.totalBytes * minFreeFraction);

/** In use unless known not to be (INC-50). */
const inUseReason = (snapshot: Snapshot, entry: VmEntry, ownershipKey: string): InUseReason | undefined => {
  const { namesInTartCommands, held, openFiles } = snapshot;
  if (held.has(entry.name) || held.has(ownershipKey)) return 'held';
  if (namesInTartCommands === 'unknown' || namesInTartCommands.has(entry.name) || namesInTartCommands.has(ownershipKey))
    return 'in use by tart';
  if (entry.source === 'OCI') return undefined;
  if (entry.state !== 'stopped') return 'running';
  return openFiles.get(entry.name) === 'closed' ? undefined : 'files are open';
};

/**
 * What to delete now. Pure and total. Without disk pressure, all garbage. Under pressure one item at a time, so that the disk is
 * measured and everything is listed again after each: clones share blocks, and a list is stale after a deletion (INC-53).
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { now, pods, list, owners, tags } = snapshot;
  if (pods === 'unknown') return { kind: 'abort', why: 'the Pods are not known' };
  if (list === 'unknown') return { kind: 'abort', why: 'the virtual machines are not known' };

  const pressure = isUnderDiskPressure(snapshot);
  const isLive = (vm: string): boolean =>
    list.some(
      (entry) => entry.source === 'local' && entry.name === vm && inUseReason(snapshot, entry, vm) !== undefined,
    );
  const needs = podNeeds(pods, tags, isLive);

  const goldens = list.filter(isGolden);
  const lastUsed = new Map(
    goldens.map(({ name }) => {
      const seen = snapshot.lastUsed.get(name);
      // First seen: the retention time starts now, so that a restart errs on the side of keeping. If the clock was set
      // back, it starts again.
      return [name, needs.isGoldenNeeded(name) || seen === undefined ? now : Math.min(seen, now)];
    }),
  );

  const usedAt = (name: string): number => lastUsed.get(name) ?? now;

  const reasonInUse = (entry: VmEntry, owned: string): InUseReason | undefined => inUseReason(snapshot, entry, owned);
  const isOurs = (name: string): boolean => owners.get(name) === 'ours';

  const baseCandidate = (entry: VmEntry): Candidate | undefined => {
    const { name } = entry;
    const found = { kind: 'virtual machine', name, ownershipKey: name, base: entry } as const;
    if (needs.isGoldenNeeded(name))
      return pressure && !needs.isGoldenBehindLiveVm(name)
        ? { ...found, rank: 'needed', reason: 'under pressure' }
        : undefined;
    if (now - usedAt(name) >= retentionMs) return { ...found, rank: 'idle', reason: 'stale golden base' };
    return pressure ? { ...found, rank: 'idle', reason: 'under pressure' } : undefined;
  };
  const imageCandidate = ({ name }: VmEntry): Candidate | undefined => {
    const image = pinnedImage(name, tags);
    if (image === undefined) return undefined;
    const found = { kind: 'image', name, ownershipKey: formatDigestReference(image) } as const;
    const needed = needs.isImageNeeded(image);
    const base = goldens.find((golden) => golden.name === goldenName(image));
    if (base === undefined) {
      if (!needed) return { ...found, base, rank: 'stale image', reason: 'stale image' };
      return pressure ? { ...found, base, rank: 'needed', reason: 'under pressure' } : undefined;
    }
    // Image and base share their blocks, so deleting the image alone frees nothing (INC-53). Delete it only if its base can
    // follow.
    const follows = goldens.length > minGoldenBases && isOurs(base.name) && reasonInUse(base, base.name) === undefined;
    const partner = follows ? baseCandidate(base) : undefined;
    return partner === undefined ? undefined : { ...partner, ...found };
  };
  const candidateOf = (entry: VmEntry): Candidate | undefined => {
    if (entry.source === 'OCI') return imageCandidate(entry);
    if (isGolden(entry)) return baseCandidate(entry);
    const { name } = entry;
    if (needs.vms.has(name)) return undefined;
    return {
      kind: 'virtual machine',
      name,
      ownershipKey: name,
      base: undefined,
      rank: 'orphan',
      reason: 'orphan clone',
    };
  };

  const inUse: { name: string; reason: InUseReason }[] = [];
  const candidates: Candidate[] = [];
  for (const entry of list) {
    const candidate = candidateOf(entry);
    if (candidate === undefined || !isOurs(candidate.ownershipKey)) continue;
    const reason = reasonInUse(entry, candidate.ownershipKey);
    if (reason === undefined) candidates.push(candidate);
    else inUse.push({ name: entry.name, reason });
  }
  const age = ({ base }: Candidate): readonly [number, number] =>
    base === undefined ? [0, 0] : [usedAt(base.name), base.accessedAt ?? 0];
  candidates.sort((one, other) => {
    const [oneUsed, oneAccessed] = age(one);
    const [otherUsed, otherAccessed] = age(other);
    return (
      evictionOrder[one.rank] - evictionOrder[other.rank] ||
      oneUsed - otherUsed ||
      oneAccessed - otherAccessed ||
      // Both halves of a pair together, the image first, and its tags before it, so that no tag is left dangling.
      compareText(one.base?.name ?? '', other.base?.name ?? '') ||
      compareText(one.kind, other.kind) ||
      Number(one.name === one.ownershipKey) - Number(other.name === other.ownershipKey)
    );
  });

  let left = goldens.length;
  const deletions: Deletion[] = [];
  for (const { kind, name, ownershipKey, reason, base } of candidates) {
    if (base !== undefined && left <= minGoldenBases) continue;
    if (base?.name === name) left -= 1;
    deletions.push({ kind, name, ownershipKey, reason });
    if (pressure) break;
  }
  return { kind: 'collect', deletions, inUse, pressure, lastUsed };
};
