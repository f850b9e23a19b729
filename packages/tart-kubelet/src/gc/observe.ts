import type { Clock } from '@tartan/kube/clock';
import { type HostProcess, type ProcessTable, type Tart, tartProcesses, type VmEntry } from '@tartan/tart';
import type { DiskUsage } from '../facts/host-facts.ts';
import type { Holds } from '../images/holds.ts';
import { formatTagReference, parseReference } from '../images/image-reference.ts';
import type { LocalImages } from '../images/local-images.ts';
import { pinnedImage } from './decide.ts';
import type { OpenFiles } from './open-files.ts';
import type { Owner, Ownership } from './ownership.ts';

/** A Pod bound to this Node, in any phase: while it exists, only its own lifecycle deletes what it uses. */
export interface PodOnNode {
  /** `undefined`: it cannot have a VM. */
  readonly vm: string | undefined;
  /** From the spec, and by digest if known. */
  readonly images: readonly string[];
}

/** A value, or `unknown` if it could not be read. */
type Known<T> = T | 'unknown';

/** Everything that garbage collection depends on. */
export interface Snapshot {
  readonly now: number;
  readonly pods: Known<readonly PodOnNode[]>;
  readonly list: Known<readonly VmEntry[]>;
  /** By name. Missing entries are unknown. */
  readonly owners: ReadonlyMap<string, Owner>;
  /** Digests by `repository:tag`. Missing entries are unknown. */
  readonly tags: ReadonlyMap<string, string>;
  /** Every word of the running tart command lines, including VM and image names. */
  readonly namesInTartCommands: Known<ReadonlySet<string>>;
  /** By VM name. Missing entries are unknown. */
  readonly openFiles: ReadonlyMap<string, 'open' | 'closed'>;
  /** Names that this agent is using now. */
  readonly held: ReadonlySet<string>;
  readonly disk: Known<DiskUsage>;
  /** When each golden base was last needed, since the agent's start. */
  readonly lastUsed: ReadonlyMap<string, number>;
  /** An operation just failed for lack of space, whatever the measured disk usage. */
  readonly outOfSpace: boolean;
}

/**
 * Every word of the running tart commands, started by this agent or not: `run x`, `push x …`, `clone image x`. Whole words, so that `x`
 * is not in use because `x-2` is (INC-51). A false match only keeps too much.
 */
export const wordsInTartCommands = (
  processes: readonly HostProcess[],
  paths: readonly string[] = [],
): ReadonlySet<string> =>
  new Set(tartProcesses(processes, paths).flatMap(({ rest }) => rest.split(/\s+/).filter((word) => word !== '')));

export interface GcDeps {
  readonly tart: Pick<Tart, 'list' | 'get' | 'delete'>;
  /** All Pods bound to this Node, by a live read from the API server. Rejects when it is unreachable. */
  readonly pods: (signal: AbortSignal) => Promise<readonly PodOnNode[]>;
  readonly ownership: Ownership;
  readonly processes: ProcessTable;
  /** Paths of the tart executable, possibly with spaces. */
  readonly tartPaths: readonly string[];
  readonly openFiles: OpenFiles;
  readonly local: LocalImages;
  readonly holds: Holds;
  readonly disk: (signal: AbortSignal) => Promise<DiskUsage>;
  readonly clock: Clock;
}

const orUnknown = <T>(answer: Promise<T>): Promise<Known<T>> => answer.catch((): 'unknown' => 'unknown');

/** Resolves tags; skips unreadable ones. */
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

/** Reads everything. Unreadable values are `unknown`, never treated as absent. */
export const observe = async (
  deps: GcDeps,
  memory: Pick<Snapshot, 'lastUsed' | 'outOfSpace'>,
  signal: AbortSignal,
): Promise<Snapshot> => {
  const { tart, local, clock } = deps;
  // Before the Pods: a Pod exists before its VM, so a listed VM without a listed Pod has lost its Pod.
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
