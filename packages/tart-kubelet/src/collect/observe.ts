import type { ProcessTable, Tart } from '@tartan/tart';
import type { Clock } from '@tartan/kube/clock';
import type { Holds } from '../images/holds.ts';
import type { LocalImages } from '../images/local-images.ts';
import { parseReference, tagText } from '../images/reference.ts';
import type { Disk } from '../node/host-facts.ts';
import { mentionedNames } from './mentioned.ts';
import { pinnedOf } from './needs.ts';
import type { OpenFiles } from './open-files.ts';
import type { Owner, Ownership } from './ownership.ts';
import type { Known, PodOnNode, Snapshot } from './snapshot.ts';

export interface World {
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
  readonly disk: (signal: AbortSignal) => Promise<Disk>;
  readonly clock: Clock;
}

const known = <T>(answer: Promise<T>): Promise<Known<T>> => answer.catch((): 'unknown' => 'unknown');

/** What tags point at; those that cannot be read are left out. */
const resolveTags = async (local: LocalImages, names: Iterable<string>): Promise<Map<string, string>> => {
  const tags = new Map<string, string>();
  for (const name of new Set(names)) {
    const reference = parseReference(name);
    if (reference === undefined || reference.digest !== undefined) continue;
    const digest = await known(local.digestOf(reference));
    if (digest !== undefined && digest !== 'unknown') tags.set(tagText(reference), digest);
  }
  return tags;
};

const ownersOf = async (ownership: Ownership, names: Iterable<string>): Promise<Map<string, Owner>> => {
  const owners = new Map<string, Owner>();
  for (const name of new Set(names)) owners.set(name, await known(ownership.of(name)));
  return owners;
};

/** Looks at everything. What cannot be told is said to be unknown, and never left out as if it were not there. */
export const observe = async (
  world: World,
  memory: Pick<Snapshot, 'lastUsed' | 'outOfSpace'>,
  signal: AbortSignal,
): Promise<Snapshot> => {
  const { tart, local, clock } = world;
  // Before the Pods: a Pod is there before its virtual machine, so each of these whose Pod is not listed then has none any more.
  const list = await known(tart.list({ signal }));
  const pods = await known(world.pods(signal));
  const disk = await known(world.disk(signal));
  const entries = list === 'unknown' ? [] : list.entries;
  const images = entries.filter(({ source }) => source === 'OCI').map(({ name }) => name);
  const vms = entries.filter(({ source }) => source === 'local').map(({ name }) => name);
  const tags = await resolveTags(local, [...images, ...(pods === 'unknown' ? [] : pods.flatMap((pod) => pod.images))]);
  const pinned = images.flatMap((name) => {
    const image = pinnedOf(name, tags);
    return image === undefined ? [] : [`${image.repository}@${image.digest}`];
  });
  const owners = await ownersOf(world.ownership, [...vms, ...pinned]);
  const ours = vms.filter((name) => owners.get(name) === 'ours');
  const openFiles = await world.openFiles.look(ours, signal);
  const mentioned = await known(world.processes.list().then((processes) => mentionedNames(processes, world.tartPaths)));
  return {
    now: clock.now(),
    pods,
    list,
    owners,
    tags,
    mentioned,
    openFiles,
    held: world.holds.names(),
    disk,
    ...memory,
  };
};
