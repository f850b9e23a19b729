import { bootstrapTransport } from './rows/bootstrap-transport.ts';
import { buildersAndCollection } from './rows/builders-and-collection.ts';
import { clusterApi } from './rows/cluster-api.ts';
import { hostPreparation } from './rows/host-preparation.ts';
import { otherParts } from './rows/other-parts.ts';
import { poolAndReclaim } from './rows/pool-and-reclaim.ts';

/** The changes of the original system (pull requests of tuist/tuist) from which the requirements are taken. */
export const changes = {
  11065: 'stream bootstrap binaries instead of copying them per roll',
  11072: 'disable tart-kubelet orphan-VM GC on builder nodes',
  10981: 'wire CAPI core’s workload connection for the Mac-mini fleets',
  10875: 'four forward-only bootstrap fixes from the runners-fleet incident',
  11056: 'reclaim stranded Scaleway Apple-silicon hosts back to the pool',
} as const;

type Change = keyof typeof changes;

/** A test, by its file and title. */
export interface TestReference {
  /** From the root of the repository. */
  readonly file: string;
  /** A string literal in that file. For tests with computed titles: the title of their `describe`. */
  readonly title: string;
}

/** One thing that the system must do. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** The changes that require it. */
  readonly changes: readonly [Change, ...Change[]];
  /** Each fails without the behaviour. */
  readonly tests: readonly TestReference[];
}

export interface Chapter {
  readonly letter: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Requirements {
  readonly chapters: readonly Chapter[];
  /** Number of rows of each chapter, so that the last row cannot be lost unnoticed. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** The text of a file, by its path from the root of the repository. */
export type ReadFile = (path: string) => string | undefined;

export const requirements: Requirements = {
  chapters: [bootstrapTransport, buildersAndCollection, clusterApi, hostPreparation, poolAndReclaim, otherParts],
  sizes: { A: 6, B: 7, C: 9, D: 6, E: 9, F: 7 },
};
