import { join } from 'node:path';
import type { Client, EventRecorder, Logger, Subresources } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { ProcessTable, Tart } from '@tartan/tart';
import type { AgentPaths } from '../agent-paths.ts';
import type { PodRuntime } from '../api/pod-runtime.ts';
import type { Worthless } from '../collect/decision.ts';
import { createLeftovers } from '../collect/leftovers.ts';
import type { OpenFiles } from '../collect/open-files.ts';
import { podsOnNode } from '../collect/pods-on-node.ts';
import { createGuests } from '../guest/create-guests.ts';
import { createImages, type Images } from '../images/create-images.ts';
import { createPullCredentials } from '../images/pull-secrets.ts';
import { createJournal } from '../journal/journal.ts';
import { createLogChanges } from '../logs/log-changes.ts';
import { createLogFiles } from '../logs/log-files.ts';
import type { Disk } from '../node/host-facts.ts';
import { createPods, type Pods } from '../pods/controller.ts';
import type { PodObserver } from '../pods/world.ts';
import { createRuns } from '../runs/create-runs.ts';
import { createPodRuntime } from '../runtime/create-pod-runtime.ts';
import type { ConsoleSession } from '../session/console-session.ts';
import type { Starts } from '../starts/starts.ts';

export interface MachinesOptions {
  readonly nodeName: string;
  readonly agentVersion: string;
  readonly vmSlots: number;
  readonly maxPods: number;
  readonly disableVMGC: boolean;
  readonly client: Client;
  readonly tokens: Pick<Subresources, 'createToken'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly paths: Pick<AgentPaths, 'guests' | 'images' | 'journal' | 'logs'>;
  readonly tart: Tart;
  readonly tartHome: string;
  /** Of the executable of tart, also those with spaces in them. */
  readonly tartPaths: readonly string[];
  readonly processes: ProcessTable;
  /** As they were some seconds ago. As they are now unless told. */
  readonly recentProcesses?: ProcessTable['list'];
  /** Changes when a guest gets an address. */
  readonly leases: string;
  readonly session: ConsoleSession;
  readonly starts: Pick<Starts, 'refused' | 'worked'>;
  readonly hostIP: () => string | undefined;
  readonly disk: (signal: AbortSignal) => Promise<Disk>;
  /** By lsof unless told. */
  readonly openFiles?: OpenFiles;
  readonly observer?: PodObserver | undefined;
  readonly onCollected?: ((why: Worthless) => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The virtual machines of this Mac: made and ended for Pods, reached into, and collected. */
export interface Machines {
  readonly pods: Pods;
  readonly images: Images;
  readonly runtime: PodRuntime;
  /** Until `signal` fires. Virtual machines stay on. */
  run(signal: AbortSignal): Promise<void>;
}

/** Pods in their last minutes are bound to the Node beside those that came after them. */
const workersFor = (maxPods: number): number => 2 * maxPods + 4;

/** Puts everything together that has to do with virtual machines. Does nothing by itself. */
export const createMachines = (options: MachinesOptions): Machines => {
  const { client, clock, log, nodeName, paths, processes, random, tart, tartHome, tartPaths } = options;
  const journal = createJournal(paths.journal);
  const files = createLogFiles(paths.logs);
  const changes = createLogChanges(clock);
  const guests = createGuests({ folder: paths.guests, client, tokens: options.tokens, clock });
  const images = createImages({
    tart,
    tartHome,
    folder: paths.images,
    disableVMGC: options.disableVMGC,
    client,
    nodeName,
    journal,
    processes,
    tartPaths,
    disk: options.disk,
    clock,
    log,
    ...(options.openFiles && { openFiles: options.openFiles }),
    ...(options.onCollected && { onCollected: options.onCollected }),
  });
  const runs = createRuns({
    tart,
    processes,
    clock,
    log,
    files,
    changes,
    statusFolder: (vm) => guests.statusFolder(vm),
    onExit: (uid) => pods.exited(uid),
  });
  const pods: Pods = createPods({
    client,
    nodeName,
    agentVersion: options.agentVersion,
    hostIP: options.hostIP,
    vmSlots: options.vmSlots,
    workers: workersFor(options.maxPods),
    tart,
    vmsFolder: join(tartHome, 'vms'),
    processes,
    recentProcesses: options.recentProcesses ?? (() => processes.list()),
    tartPaths,
    leases: options.leases,
    journal,
    ensureGolden: images.ensureGolden,
    pullCredentials: createPullCredentials(client),
    usedGolden: images.used,
    freeSpace: images.freeSpace,
    holds: images.holds,
    guests,
    runs,
    session: options.session,
    starts: options.starts,
    events: options.events,
    observer: options.observer,
    clock,
    random,
    log,
  });
  const leftovers = createLeftovers({
    guests,
    logs: files,
    runs,
    journal,
    images,
    pods: podsOnNode(client, nodeName, journal),
    processes,
    tartPaths,
    clock,
    log,
  });
  return {
    pods,
    images,
    runtime: createPodRuntime({
      views: pods.views,
      tart,
      files,
      changes,
      isFinished: (run) => runs.isFinished(run),
      clock,
    }),
    run: async (signal) => {
      await Promise.all([runs.run(signal), pods.run(signal), images.collector?.run(signal), leftovers.run(signal)]);
    },
  };
};
