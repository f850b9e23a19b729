import { join } from 'node:path';
import type { Tart } from '@tartan/tart';
import { type AgentCollectorOptions, type Collector, createAgentCollector } from '../gc/collector.ts';
import { writeOwnershipMarker } from '../journal/vm-identity.ts';
import { createEnsureGolden, type EnsureGolden } from './golden-base.ts';
import { createHolds, type Holds } from './holds.ts';
import { createImageRecords, type ImageRecords } from './image-records.ts';
import { createLocalImages, type LocalImages } from './local-images.ts';
import { createPulls, type Pulls, withPullRecords } from './pulls.ts';

export interface ImageManagerOptions extends Omit<AgentCollectorOptions, 'local' | 'holds' | 'records' | 'tart'> {
  readonly tart: Tart;
  /** Where it is written down what the agent made. */
  readonly folder: string;
  /** No collector at all, and none on lack of space either (B3). */
  readonly disableVMGC: boolean;
  /** Images that are fetched at a time. */
  readonly pullLimit?: number;
}

/** The images of this Mac: how they come, what is made of them, and how they go. */
export interface ImageManager {
  readonly ensureGolden: EnsureGolden;
  readonly pulls: Pulls;
  readonly holds: Holds;
  readonly local: LocalImages;
  readonly records: ImageRecords;
  /** `undefined` with --disable-vm-gc. Whoever has it runs it. */
  readonly collector: Collector | undefined;
  /** Collects garbage since the disk is full. */
  readonly freeSpace: (() => Promise<void>) | undefined;
  /** A base was cloned from: it is kept for another day. */
  readonly markUsed: (golden: string) => void;
}

/** Two share a link of 1 Gbit/s; more would only make each of them slower (tuist/tuist#11362). */
const defaultPullLimit = 2;

/** Puts everything together. Does nothing by itself. */
export const createImageManager = (options: ImageManagerOptions): ImageManager => {
  const { tart, folder, disableVMGC, pullLimit = defaultPullLimit, ...others } = options;
  const holds = createHolds();
  const local = createLocalImages(options.tartHome);
  const records = createImageRecords({
    folder,
    mark: (name, goldenOf) =>
      writeOwnershipMarker(join(options.tartHome, 'vms', name), {
        version: 1,
        agent: options.nodeName,
        vm: name,
        goldenOf,
      }),
  });
  const pulls = createPulls({ tart: withPullRecords(tart, local, records), limit: pullLimit });
  const collector = disableVMGC ? undefined : createAgentCollector({ ...others, tart, holds, local, records });
  const freeSpace = collector && (() => collector.freeSpace());
  return {
    ensureGolden: createEnsureGolden({ tart, local, pulls, holds, records, freeSpace }),
    pulls,
    holds,
    local,
    records,
    collector,
    freeSpace,
    markUsed: (golden) => collector?.markUsed(golden),
  };
};
