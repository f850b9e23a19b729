import { join } from 'node:path';
import type { Subresources } from '@tartan/kube';
import { createHousekeeping } from '../gc/housekeeping.ts';
import { listPodsOnNode } from '../gc/pods-on-node.ts';
import { createGuests } from '../guest/create-guests.ts';
import { createImageManager, type ImageManagerOptions } from '../images/image-manager.ts';
import { createPullCredentials } from '../images/pull-secrets.ts';
import { createJournal } from '../journal/journal.ts';
import { createLogFiles } from '../logs/log-files.ts';
import { createLogNotifier } from '../logs/log-notifier.ts';
import type { PodMetrics } from '../pods/context.ts';
import { createPodController, type PodController, type PodControllerOptions } from '../pods/controller.ts';
import { createPodRuntime } from '../runtime/create-pod-runtime.ts';
import { createVmRuns } from '../vm-runs/vm-runs.ts';
import type { AgentPaths } from './create-agent.ts';

export interface VmSubsystemOptions
  extends Pick<ImageManagerOptions, 'disableVMGC' | 'disk' | 'onCollected' | 'openFiles' | 'tartHome'>,
    Pick<
      PodControllerOptions,
      | 'agentVersion'
      | 'client'
      | 'clock'
      | 'dhcpLeases'
      | 'events'
      | 'hostIP'
      | 'log'
      | 'nodeName'
      | 'processes'
      | 'random'
      | 'session'
      | 'startRecorder'
      | 'tart'
      | 'tartPaths'
      | 'vmSlots'
    > {
  readonly maxPods: number;
  readonly tokens: Pick<Subresources, 'createToken'>;
  readonly paths: Pick<AgentPaths, 'guests' | 'images' | 'journal' | 'logs'>;
  readonly podMetrics?: PodMetrics | undefined;
}

/** Terminating Pods are bound to the Node together with their successors. */
const workersFor = (maxPods: number): number => 2 * maxPods + 4;

/** The VMs of this Mac: Pod lifecycle, exec and logs, garbage collection. Does nothing before `run`. */
export const createVmSubsystem = (options: VmSubsystemOptions) => {
  const { client, clock, nodeName, paths, tartHome } = options;
  const journal = createJournal(paths.journal);
  const files = createLogFiles(paths.logs);
  const changes = createLogNotifier(clock);
  const guests = createGuests({ folder: paths.guests, client, tokens: options.tokens, clock });
  const images = createImageManager({ ...options, folder: paths.images, journal });
  const { collector } = images;
  const runs = createVmRuns({
    ...options,
    files,
    changes,
    statusFolder: (vm) => guests.statusFolder(vm),
    onExit: (uid) => pods.vmExited(uid),
  });
  const pods: PodController = createPodController({
    ...options,
    workers: workersFor(options.maxPods),
    vmsFolder: join(tartHome, 'vms'),
    journal,
    ensureGolden: images.ensureGolden,
    pullCredentials: createPullCredentials(client),
    markGoldenUsed: (golden) => collector?.markUsed(golden),
    freeSpace: collector?.freeSpace,
    holds: images.holds,
    guests,
    runs,
    metrics: options.podMetrics,
  });
  const housekeeping = createHousekeeping({
    ...options,
    guests,
    logs: files,
    runs,
    journal,
    images,
    pods: listPodsOnNode(client, nodeName, journal),
  });
  return {
    pods,
    images,
    runtime: createPodRuntime({
      ...options,
      lister: pods.lister,
      files,
      changes,
      isFinished: (run) => runs.isLogFinished(run),
    }),
    /** Runs until `signal` fires. VMs keep running. */
    run: async (signal: AbortSignal) => {
      await Promise.all([runs.run(signal), pods.run(signal), collector?.run(signal), housekeeping.run(signal)]);
    },
  };
};
