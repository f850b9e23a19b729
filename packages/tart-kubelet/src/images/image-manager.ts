import { join } from 'node:path';
import type { Client } from '@tartan/kube';
import type { Tart } from '@tartan/tart';
import { type Collector, type CollectorOptions, createCollector } from '../gc/collector.ts';
import { createOpenFiles, type OpenFiles } from '../gc/open-files.ts';
import { createOwnership, hasMarker, isInJournal } from '../gc/ownership.ts';
import { listPodsOnNode } from '../gc/pods-on-node.ts';
import type { Journal } from '../journal/journal.ts';
import { writeOwnershipMarker } from '../journal/vm-identity.ts';
import { createEnsureGolden } from './golden-base.ts';
import { createHolds } from './holds.ts';
import { createImageRecords } from './image-records.ts';
import { createLocalImages } from './local-images.ts';
import { createPulls, withPullRecords } from './pulls.ts';

export interface ImageManagerOptions
  extends Pick<CollectorOptions, 'clock' | 'disk' | 'log' | 'onCollected' | 'processes' | 'tartPaths'> {
  readonly tart: Tart;
  readonly tartHome: string;
  /** Folder of the records of created images and bases. */
  readonly folder: string;
  readonly client: Pick<Client, 'list'>;
  readonly nodeName: string;
  readonly journal: Pick<Journal, 'list'>;
  /** No collector, not even for lack of space (B3). */
  readonly disableVMGC: boolean;
  /** lsof by default. */
  readonly openFiles?: OpenFiles | undefined;
}

/** Two share a link of 1 Gbit/s; more would only slow each down (tuist/tuist#11362). */
const pullLimit = 2;

/** Wires the parts. Starts nothing. */
export const createImageManager = (options: ImageManagerOptions) => {
  const { tart, tartHome, folder, client, nodeName, journal, disableVMGC } = options;
  const holds = createHolds();
  const local = createLocalImages(tartHome);
  const records = createImageRecords({
    folder,
    mark: (name, goldenOf) =>
      writeOwnershipMarker(join(tartHome, 'vms', name), { version: 1, agent: nodeName, vm: name, goldenOf }),
  });
  const pulls = createPulls({ tart: withPullRecords(tart, local, records), limit: pullLimit });
  const createGarbageCollector = (): Collector =>
    createCollector({
      ...options,
      holds,
      local,
      pods: listPodsOnNode(client, nodeName, journal),
      ownership: createOwnership({
        images: records,
        isInJournal: (vm) => isInJournal(journal, vm),
        hasMarker: (vm) => hasMarker(tartHome, vm),
      }),
      openFiles: options.openFiles ?? createOpenFiles({ tartHome }),
    });
  const collector = disableVMGC ? undefined : createGarbageCollector();
  return {
    ensureGolden: createEnsureGolden({ tart, local, pulls, holds, records, freeSpace: collector?.freeSpace }),
    pulls,
    holds,
    local,
    records,
    /** `undefined` with --disable-vm-gc. The caller runs it. */
    collector,
  };
};

/** Pulls, golden bases and garbage collection of images. */
export type ImageManager = ReturnType<typeof createImageManager>;
