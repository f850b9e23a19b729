import type { Client, EventRecorder, Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ProcessTable, RegistryCredentials, Tart } from '@tartan/tart';
import type { Guests } from '../guest/guests.ts';
import type { EnsureGolden } from '../images/ensure-golden.ts';
import type { Golden } from '../images/golden.ts';
import type { Holds } from '../images/holds.ts';
import type { ImageReference } from '../images/reference.ts';
import type { Journal } from '../journal/journal.ts';
import type { Runs } from '../runs/runs.ts';
import type { ConsoleSession } from '../session/console-session.ts';
import type { Starts } from '../starts/starts.ts';
import type { Pod } from './snapshot.ts';

/** What the user's `imagePullSecrets` come to. */
interface PullCredentials {
  readonly credentials: RegistryCredentials | undefined;
  /** For people; never with anything from inside a Secret. */
  readonly problems: readonly string[];
}

/** Told of what is worth measuring. */
export interface PodObserver {
  /** A clone of its own is there. */
  provisioned(pod: Pod, from: Golden['from'], tookMs: number): void;
  /** `tart run` is about to be called, so long after the Pod was made. */
  starting(pod: Pod, delayMs: number): void;
  /** From `tart run` to the address. Not of one that an earlier life of the agent started. */
  booted(pod: Pod, tookMs: number): void;
}

/** All that Pods on this Mac touch. */
export interface PodWorld {
  readonly client: Client;
  readonly nodeName: string;
  /** The address of the Mac, once known. */
  readonly hostIP: () => string | undefined;
  readonly vmSlots: number;
  readonly tart: Tart;
  /** Where tart keeps virtual machines: a folder for each, by its name. */
  readonly vmsFolder: string;
  readonly processes: ProcessTable;
  /** As they were some seconds ago, at once. */
  readonly recentProcesses: ProcessTable['list'];
  /** Of the executable of tart, also those with spaces in them. */
  readonly tartPaths: readonly string[];
  /** Changes when a guest gets an address. A hint, not read. */
  readonly leases: string;
  readonly journal: Journal;
  readonly ensureGolden: EnsureGolden;
  readonly pullCredentials: (pod: Pod, image: ImageReference, signal: AbortSignal) => Promise<PullCredentials>;
  /** The base was cloned from. */
  readonly usedGolden: (name: string) => void;
  /** Collects garbage since the disk is full. Absent with --disable-vm-gc. */
  readonly freeSpace?: (() => Promise<void>) | undefined;
  readonly holds: Holds;
  readonly guests: Guests;
  readonly runs: Runs;
  readonly session: ConsoleSession;
  /** Told of each start that was refused, and of each that worked. */
  readonly starts: Pick<Starts, 'refused' | 'worked'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly observer?: PodObserver | undefined;
  readonly agentVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
}
