import { join } from 'node:path';
import type { Client, EventRecorder, Logger, Subresources } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { ProcessTable, Tart } from '@tartan/tart';
import type { PodRuntime } from '../api/pod-runtime.ts';
import type { DiskUsage } from '../facts/host-facts.ts';
import type { GarbageReason } from '../gc/decide.ts';
import { createHousekeeping } from '../gc/housekeeping.ts';
import type { OpenFiles } from '../gc/open-files.ts';
import { listPodsOnNode } from '../gc/pods-on-node.ts';
import { createGuests } from '../guest/create-guests.ts';
import { createImageManager, type ImageManager } from '../images/image-manager.ts';
import { createPullCredentials } from '../images/pull-secrets.ts';
import { createJournal } from '../journal/journal.ts';
import { createLogFiles } from '../logs/log-files.ts';
import { createLogNotifier } from '../logs/log-notifier.ts';
import type { PodMetrics } from '../pods/context.ts';
import { createPodController, type PodController } from '../pods/controller.ts';
import { createPodRuntime } from '../runtime/create-pod-runtime.ts';
import { createVmRuns } from '../vm-runs/vm-runs.ts';
import type { ConsoleSession } from '../vm-start/console-session.ts';
import type { StartRecorder } from '../vm-start/start-recorder.ts';
import type { AgentPaths } from './create-agent.ts';

export interface VmSubsystemOptions {
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
  /** Changes when a guest gets an address. */
  readonly dhcpLeases: string;
  readonly session: ConsoleSession;
  readonly startRecorder: Pick<StartRecorder, 'recordRefusal' | 'recordSuccess'>;
  readonly hostIP: () => string | undefined;
  readonly disk: (signal: AbortSignal) => Promise<DiskUsage>;
  /** By lsof unless told. */
  readonly openFiles?: OpenFiles;
  readonly podMetrics?: PodMetrics | undefined;
  readonly onCollected?: ((why: GarbageReason) => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The virtual machines of this Mac: made and ended for Pods, reached into, and collected. */
export interface VmSubsystem {
  readonly pods: PodController;
  readonly images: ImageManager;
  readonly runtime: PodRuntime;
  /** Until `signal` fires. Virtual machines stay on. */
  run(signal: AbortSignal): Promise<void>;
}

/** Pods in their last minutes are bound to the Node beside those that came after them. */
const workersFor = (maxPods: number): number => 2 * maxPods + 4;

/** Puts everything together that has to do with virtual machines. Does nothing by itself. */
export const createVmSubsystem = (options: VmSubsystemOptions): VmSubsystem => {
  const { client, clock, log, nodeName, paths, processes, random, tart, tartHome, tartPaths } = options;
  const journal = createJournal(paths.journal);
  const files = createLogFiles(paths.logs);
  const changes = createLogNotifier(clock);
  const guests = createGuests({ folder: paths.guests, client, tokens: options.tokens, clock });
  const images = createImageManager({
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
  const runs = createVmRuns({
    tart,
    processes,
    clock,
    log,
    files,
    changes,
    statusFolder: (vm) => guests.statusFolder(vm),
    onExit: (uid) => pods.vmExited(uid),
  });
  const pods: PodController = createPodController({
    client,
    nodeName,
    agentVersion: options.agentVersion,
    hostIP: options.hostIP,
    vmSlots: options.vmSlots,
    workers: workersFor(options.maxPods),
    tart,
    vmsFolder: join(tartHome, 'vms'),
    processes,
    tartPaths,
    dhcpLeases: options.dhcpLeases,
    journal,
    ensureGolden: images.ensureGolden,
    pullCredentials: createPullCredentials(client),
    markGoldenUsed: images.markUsed,
    freeSpace: images.freeSpace,
    holds: images.holds,
    guests,
    runs,
    session: options.session,
    startRecorder: options.startRecorder,
    events: options.events,
    metrics: options.podMetrics,
    clock,
    random,
    log,
  });
  const housekeeping = createHousekeeping({
    guests,
    logs: files,
    runs,
    journal,
    images,
    pods: listPodsOnNode(client, nodeName, journal),
    processes,
    tartPaths,
    clock,
    log,
  });
  return {
    pods,
    images,
    runtime: createPodRuntime({
      lister: pods.lister,
      tart,
      files,
      changes,
      isFinished: (run) => runs.isLogFinished(run),
      clock,
    }),
    run: async (signal) => {
      await Promise.all([runs.run(signal), pods.run(signal), images.collector?.run(signal), housekeeping.run(signal)]);
    },
  };
};
