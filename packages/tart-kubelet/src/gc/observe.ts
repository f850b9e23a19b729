import type { Clock } from '@tartan/kube/clock';
import { type HostProcess, type ProcessTable, type Tart, tartProcesses, type VmEntry } from '@tartan/tart';
import type { DiskUsage } from '../facts/host-facts.ts';
import type { Holds } from '../images/holds.ts';
import { formatTagReference, parseReference } from '../images/image-reference.ts';
import type { LocalImages } from '../images/local-images.ts';
import { pinnedImage } from './decide.ts';
import type { OpenFiles } from './open-files.ts';
import type { Owner, Ownership } from './ownership.ts';

/** A Pod that is bound to this Node, in whatever phase: as long as it exists, what it needs is its own life cycle's to delete. */
export interface PodOnNode {
  /** `undefined`: it can have none. */
  readonly vm: string | undefined;
  /** As the spec has it, and by digest if the agent knows. */
  readonly images: readonly string[];
}

/** An answer, or the fact that there is none. */
type Known<T> = T | 'unknown';

/** All that matters for what may be deleted. */
export interface Snapshot {
  readonly now: number;
  readonly pods: Known<readonly PodOnNode[]>;
  readonly list: Known<readonly VmEntry[]>;
  /** By name. Absent: unknown. */
  readonly owners: ReadonlyMap<string, Owner>;
  /** What tags point at, by `repository:tag`. Absent: unknown. */
  readonly tags: ReadonlyMap<string, string>;
  /** Every word of a command line of tart that is under way: names of virtual machines and of images among others. */
  readonly namesInTartCommands: Known<ReadonlySet<string>>;
  /** By name of a local virtual machine. Absent: unknown. */
  readonly openFiles: ReadonlyMap<string, 'open' | 'closed'>;
  /** What this agent works with right now. */
  readonly held: ReadonlySet<string>;
  readonly disk: Known<DiskUsage>;
  /** When each golden base was last needed, as far as this life of the agent has seen. */
  readonly lastUsed: ReadonlyMap<string, number>;
  /** Something has just failed for lack of space, whatever the disk says. */
  readonly outOfSpace: boolean;
}

/**
 * Every word of a call of tart that is under way, whoever made it: `run x`, `push x …`, `clone image x`. Whole words, so that `x` is not
 * in use because `x-2` is (INC-51). Too many words only spare too much.
 */
export const wordsInTartCommands = (
  processes: readonly HostProcess[],
  paths: readonly string[] = [],
): ReadonlySet<string> =>
  new Set(tartProcesses(processes, paths).flatMap(({ rest }) => rest.split(/\s+/).filter((word) => word !== '')));

export interface GcDeps {
  readonly tart: Pick<Tart, 'list' | 'get' | 'delete'>;
  /** The Pods that are bound to this Node, all of them, as the API server has them now. Rejects when it does not answer. */
  readonly pods: (signal: AbortSignal) => Promise<readonly PodOnNode[]>;
  readonly ownership: Ownership;
  readonly processes: ProcessTable;
  /** Of the executable of tart, also those with spaces in them. */
  readonly tartPaths: readonly string[];
  readonly openFiles: OpenFiles;
  readonly local: LocalImages;
  readonly holds: Holds;
  readonly disk: (signal: AbortSignal) => Promise<DiskUsage>;
  readonly clock: Clock;
}

const orUnknown = <T>(answer: Promise<T>): Promise<Known<T>> => answer.catch((): 'unknown' => 'unknown');

/** What tags point at; those that cannot be read are left out. */
const resolveTags = async (local: LocalImages, names: Iterable<string>): Promise<Map<string, string>> => {
  const tags = new Map<string, string>();
  for (const name of new Set(names)) {
    const reference = parseReference(name);
    if (reference === undefined || reference.digest !== undefined) continue;
    const digest = await orUnknown(local.digestOf(reference));
    if (digest !== undefined && digest !== 'unknown') tags.set(formatTagReference(reference), digest);
  }
  return tags;
};

const ownersOf = async (ownership: Ownership, names: Iterable<string>): Promise<Map<string, Owner>> => {
  const owners = new Map<string, Owner>();
  for (const name of new Set(names)) owners.set(name, await orUnknown(ownership.ownerOf(name)));
  return owners;
};

/** Reads everything. What cannot be read is unknown, and never left out as if it were not there. */
export const observe = async (
  deps: GcDeps,
  memory: Pick<Snapshot, 'lastUsed' | 'outOfSpace'>,
  signal: AbortSignal,
): Promise<Snapshot> => {
  const { tart, local, clock } = deps;
  // Before the Pods: a Pod is there before its virtual machine, so each of these whose Pod is not listed then has none any more.
  const list = await orUnknown(tart.list({ signal }));
  const pods = await orUnknown(deps.pods(signal));
  const disk = await orUnknown(deps.disk(signal));
  const entries = list === 'unknown' ? [] : list;
  const images = entries.filter(({ source }) => source === 'OCI').map(({ name }) => name);
  const vms = entries.filter(({ source }) => source === 'local').map(({ name }) => name);
  const tags = await resolveTags(local, [...images, ...(pods === 'unknown' ? [] : pods.flatMap((pod) => pod.images))]);
  const pinned = images.flatMap((name) => {
    const image = pinnedImage(name, tags);
    return image === undefined ? [] : [`${image.repository}@${image.digest}`];
  });
  const owners = await ownersOf(deps.ownership, [...vms, ...pinned]);
  const ours = vms.filter((name) => owners.get(name) === 'ours');
  const openFiles = await deps.openFiles.check(ours, signal);
  const namesInTartCommands = await orUnknown(
    deps.processes.list().then((processes) => wordsInTartCommands(processes, deps.tartPaths)),
  );
  return {
    now: clock.now(),
    pods,
    list,
    owners,
    tags,
    namesInTartCommands,
    openFiles,
    held: deps.holds.names(),
    disk,
    ...memory,
  };
};
