import type { VmEntry } from '@tartan/tart';
import { goldenName } from '../images/golden-name.ts';
import { pinnedText } from '../images/reference.ts';
import type { Decision, Deletion, Spared } from './decision.ts';
import { isGolden, needsOf, pinnedOf } from './needs.ts';
import type { Snapshot } from './snapshot.ts';

/** Pods come back after a night: a base that is fetched again costs 40 GB and minutes (INC-47). */
export const retentionMs = 24 * 60 * 60 * 1000;

/** Above the 10 % of DiskPressure, so that space is made before the Node turns Pods away (§4.3). */
const lowestFree = 0.15;

/** A Mac without any base is as slow as a new one. */
const goldensKept = 1;

/** Worst first: what frees space and costs nobody anything goes before what has to be fetched again. */
const ranks = { orphan: 0, 'stale image': 1, idle: 2, needed: 3 } as const;

interface Candidate extends Deletion {
  readonly rank: keyof typeof ranks;
  /** The base that it is, or that it shares its blocks with. */
  readonly base: VmEntry | undefined;
}

const isShort = ({ disk, outOfSpace }: Snapshot): boolean =>
  outOfSpace || (disk !== 'unknown' && disk.totalBytes > 0 && disk.freeBytes < disk.totalBytes * lowestFree);

/** Whatever is not known for sure to be dead is alive (INC-50). */
const whyAlive = (snapshot: Snapshot, entry: VmEntry, owned: string): Spared | undefined => {
  const { mentioned, held, openFiles } = snapshot;
  if (held.has(entry.name) || held.has(owned)) return 'held';
  if (mentioned === 'unknown' || mentioned.has(entry.name) || mentioned.has(owned)) return 'in use by tart';
  if (entry.source === 'OCI') return undefined;
  if (entry.state !== 'stopped') return 'running';
  return openFiles.get(entry.name) === 'closed' ? undefined : 'files are open';
};

/**
 * What to delete now. Pure and total. Without pressure, all that is worthless. Under pressure one at a time, so that the disk is
 * measured, and everything listed again, after each: clones share blocks, and a list is old after a delete (INC-53).
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { now, pods, list, owners, tags } = snapshot;
  if (pods === 'unknown') return { kind: 'abort', why: 'the Pods are not known' };
  if (list === 'unknown') return { kind: 'abort', why: 'the virtual machines are not known' };

  const { entries } = list;
  const pressure = isShort(snapshot);
  const isLive = (vm: string): boolean =>
    entries.some(
      (entry) => entry.source === 'local' && entry.name === vm && whyAlive(snapshot, entry, vm) !== undefined,
    );
  const needs = needsOf(pods, tags, isLive);

  const goldens = entries.filter(isGolden);
  const lastUsed = new Map(
    goldens.map(({ name }) => {
      const seen = snapshot.lastUsed.get(name);
      // First seen: the clock starts, so that a restart errs towards keeping. A clock that was set back starts it anew.
      return [name, needs.isGoldenNeeded(name) || seen === undefined ? now : Math.min(seen, now)];
    }),
  );

  const usedAt = (name: string): number => lastUsed.get(name) ?? now;

  const alive = (entry: VmEntry, owned: string): Spared | undefined => whyAlive(snapshot, entry, owned);
  const isOurs = (name: string): boolean => owners.get(name) === 'ours';

  const baseCandidate = (entry: VmEntry): Candidate | undefined => {
    const { name } = entry;
    const found = { kind: 'virtual machine', name, owned: name, base: entry } as const;
    if (needs.isGoldenNeeded(name))
      return pressure && !needs.isGoldenBehindLiveVm(name)
        ? { ...found, rank: 'needed', why: 'under pressure' }
        : undefined;
    if (now - usedAt(name) >= retentionMs) return { ...found, rank: 'idle', why: 'stale golden base' };
    return pressure ? { ...found, rank: 'idle', why: 'under pressure' } : undefined;
  };
  const imageCandidate = ({ name }: VmEntry): Candidate | undefined => {
    const image = pinnedOf(name, tags);
    if (image === undefined) return undefined;
    const found = { kind: 'image', name, owned: pinnedText(image) } as const;
    const needed = needs.isImageNeeded(image.repository, image.digest);
    const base = goldens.find((golden) => golden.name === goldenName(image));
    if (base === undefined) {
      if (!needed) return { ...found, base, rank: 'stale image', why: 'stale image' };
      return pressure ? { ...found, base, rank: 'needed', why: 'under pressure' } : undefined;
    }
    // They share their blocks: alone it costs nothing, and alone it frees nothing (INC-53). It goes only if its base can follow.
    const follows = goldens.length > goldensKept && isOurs(base.name) && alive(base, base.name) === undefined;
    const partner = follows ? baseCandidate(base) : undefined;
    return partner === undefined ? undefined : { ...partner, ...found };
  };
  const candidateOf = (entry: VmEntry): Candidate | undefined => {
    if (entry.source === 'OCI') return imageCandidate(entry);
    if (isGolden(entry)) return baseCandidate(entry);
    const { name } = entry;
    if (needs.vms.has(name)) return undefined;
    return { kind: 'virtual machine', name, owned: name, base: undefined, rank: 'orphan', why: 'orphan clone' };
  };

  const spared: { name: string; because: Spared }[] = [];
  const candidates: Candidate[] = [];
  for (const entry of entries) {
    const candidate = candidateOf(entry);
    if (candidate === undefined || !isOurs(candidate.owned)) continue;
    const because = alive(entry, candidate.owned);
    if (because === undefined) candidates.push(candidate);
    else spared.push({ name: entry.name, because });
  }
  const age = ({ base }: Candidate): readonly [number, number] =>
    base === undefined ? [0, 0] : [usedAt(base.name), base.accessedAt ?? 0];
  candidates.sort((one, other) => {
    const [oneUsed, oneAccessed] = age(one);
    const [otherUsed, otherAccessed] = age(other);
    return (
      ranks[one.rank] - ranks[other.rank] ||
      oneUsed - otherUsed ||
      oneAccessed - otherAccessed ||
      // Both halves of a pair, one after the other, the image first, and before it its tags: none is left that points nowhere.
      (one.base?.name ?? '').localeCompare(other.base?.name ?? '') ||
      one.kind.localeCompare(other.kind) ||
      Number(one.name === one.owned) - Number(other.name === other.owned)
    );
  });

  let left = goldens.length;
  const deletions: Deletion[] = [];
  for (const { kind, name, owned, why, base } of candidates) {
    if (base !== undefined && left <= goldensKept) continue;
    if (base?.name === name) left -= 1;
    deletions.push({ kind, name, owned, why });
    if (pressure) break;
  }
  return { kind: 'collect', deletions, spared, pressure, lastUsed };
};
