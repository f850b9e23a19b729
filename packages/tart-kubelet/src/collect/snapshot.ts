import type { VmList } from '@tartan/tart';
import type { Disk } from '../node/host-facts.ts';
import type { Owner } from './ownership.ts';

/** A Pod that is bound to this Node, in whatever phase: as long as it exists, what it needs is its own life cycle's to delete. */
export interface PodOnNode {
  /** `undefined`: it can have none. */
  readonly vm: string | undefined;
  /** As the spec has it, and by digest if the agent knows. */
  readonly images: readonly string[];
}

/** An answer, or the fact that there is none. */
export type Known<T> = T | 'unknown';

/** All that matters for what may be deleted. */
export interface Snapshot {
  readonly now: number;
  readonly pods: Known<readonly PodOnNode[]>;
  readonly list: Known<VmList>;
  /** By name. Absent: unknown. */
  readonly owners: ReadonlyMap<string, Owner>;
  /** What tags point at, by `repository:tag`. Absent: unknown. */
  readonly tags: ReadonlyMap<string, string>;
  /** Every word of a command line of tart that is under way: names of virtual machines and of images among others. */
  readonly mentioned: Known<ReadonlySet<string>>;
  /** By name of a local virtual machine. Absent: unknown. */
  readonly openFiles: ReadonlyMap<string, 'open' | 'closed'>;
  /** What this agent works with right now. */
  readonly held: ReadonlySet<string>;
  readonly disk: Known<Disk>;
  /** When each golden base was last needed, as far as this life of the agent has seen. */
  readonly lastUsed: ReadonlyMap<string, number>;
  /** Something has just failed for lack of space, whatever the disk says. */
  readonly outOfSpace: boolean;
}
