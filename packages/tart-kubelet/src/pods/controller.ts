import {
  type Controller,
  createController,
  createInformer,
  done,
  type InformerEvent,
  type Live,
  pods,
  type ReconcileResult,
  requeueAfter,
  withoutManagedFields,
} from '@tartan/kube';
import type { Random } from '@tartan/kube/clock';
import { act } from './act.ts';
import { createImagePulls } from './actions/pull-image.ts';
import { createAddressWatch } from './address-watch.ts';
import { createPodCache } from './apiserver/pod-cache.ts';
import { createStatusManager } from './apiserver/status-manager.ts';
import { createFailureBackoff } from './backoff.ts';
import { type ActionContext, type PodDeps, recordEvent } from './context.ts';
import { decide } from './decide.ts';
import { createMemory } from './memory.ts';
import { observe, type PodObservation } from './observe.ts';
import { createPodLister, type PodLister } from './pod-lister.ts';
import { createMarkerWatch, updateMarkerWatch } from './runner-busy.ts';
import { isPresent, isTerminal, type Pod, type Snapshot } from './snapshot.ts';
import { statusFor } from './status.ts';
import { deadlineOf } from './termination.ts';

export interface PodControllerOptions extends PodDeps {
  readonly random: Random;
  /** Pods that are worked on at a time: all that may be bound to the Node. */
  readonly workers: number;
}

/** The Pods of this Mac, each a virtual machine. */
export interface PodController {
  readonly lister: PodLister;
  /** When the oldest Pod was made that waits for its virtual machine to run. Those that are not for Macs wait for nobody. */
  oldestWaitingSince(): number | undefined;
  /** The virtual machine of this Pod has ended. */
  vmExited(uid: string): void;
  /** Nothing is done for Pods before what an earlier life of the agent left is known. */
  run(signal: AbortSignal): Promise<void>;
}

/** A pass ends at some point, so that others of its Pod (a deletion) are seen. Far more than any life takes. */
const maxActionsPerPass = 50;
/** Whatever was missed is seen then. */
const resyncMs = 5 * 60_000;

/** Nothing of it starts any more. */
const isTerminatingOrDone = ({ pod }: Snapshot): boolean =>
  !isPresent(pod) || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod);

export const createPodController = (options: PodControllerOptions): PodController => {
  const { client, clock, journal, log, nodeName, random, workers } = options;
  let enqueue = (_uid: string): void => {};
  const podCache = createPodCache();
  const changed = (uid: string): void => enqueue(uid);
  const memory = createMemory(
    {
      podCache,
      imagePulls: createImagePulls({ ensureGolden: options.ensureGolden, changed, log }),
      addresses: createAddressWatch({ tart: options.tart, dhcpLeases: options.dhcpLeases, changed, clock }),
      markerWatch: createMarkerWatch({ read: (vm) => options.guests.runnerMarkers(vm), changed, clock }),
      backoff: createFailureBackoff(clock),
      statusManager: createStatusManager({ client, nodeName, podCache, clock, log }),
    },
    clock,
  );
  const cache = createInformer({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    transform: withoutManagedFields,
    clock,
    random,
    log,
  });
  const lister = createPodLister(podCache, memory.statusManager);
  /** Pods for which there is no slot: whoever leaves one wakes them. */
  const waitingForSlot = new Set<string>();
  const requeueSlotWaiters = (): void => {
    for (const uid of waitingForSlot) enqueue(uid);
    waitingForSlot.clear();
  };

  const onWatchEvent = (change: InformerEvent<Pod>): void => {
    const pod: Live<Pod> = change.type === 'removed' ? change.previous : change.object;
    const { uid } = pod.metadata;
    if (change.type === 'removed') podCache.applyWatchDelete(uid);
    else if (!podCache.applyWatch(pod)) return;
    enqueue(uid);
  };

  /** At the latest when its time is over. */
  const requeueAt = (until: number | undefined, { pod }: Snapshot): ReconcileResult => {
    const now = clock.now();
    const deadline = isPresent(pod) ? deadlineOf(pod) : undefined;
    const times = [until, deadline !== undefined && deadline > now ? deadline : undefined];
    return requeueAfter(
      Math.max(0, Math.min(resyncMs, ...times.map((time) => (time === undefined ? resyncMs : time - now)))),
    );
  };

  const observePod = async (uid: string, signal: AbortSignal): Promise<PodObservation | undefined> => {
    const observation = await observe(options, memory, uid, signal);
    if (observation !== undefined) lister.observed(observation);
    else if (podCache.get(uid) === undefined) {
      memory.forget(uid);
      lister.forget(uid);
    }
    return observation;
  };

  const reconcile = async (uid: string, signal: AbortSignal): Promise<ReconcileResult> => {
    let observation = await observePod(uid, signal);
    for (let actions = 0; observation !== undefined && actions < maxActionsPerPass; actions += 1) {
      signal.throwIfAborted();
      updateMarkerWatch(memory.markerWatch, observation);
      const context: ActionContext = { ...observation, deps: options, memory, signal };
      const decision = decide(observation.snapshot);
      log.debug('Reconciling Pod', { uid, vm: observation.vm, decision: decision.kind });
      if (decision.kind === 'wait' && decision.for.reason === 'WaitingForSlot') waitingForSlot.add(uid);
      if (isTerminatingOrDone(observation.snapshot)) memory.imagePulls.cancel(uid);
      // The first one is written together with the finalizer.
      if (decision.kind !== 'add finalizer') memory.statusManager.setStatus(uid, statusFor(context, decision));
      const result = await act(context, decision);
      // A slot may be free now.
      if (decision.kind === 'end' || decision.kind === 'delete VM' || decision.kind === 'undo start')
        requeueSlotWaiters();
      switch (result.kind) {
        case 'done':
          if (decision.kind === 'delete record') return done;
          return requeueAt(result.until, observation.snapshot);
        case 'changed':
          observation = { ...observation, snapshot: { ...observation.snapshot, now: clock.now(), ...result.facts } };
          lister.observed(observation);
          break;
        case 'observe again':
          observation = await observePod(uid, signal);
          break;
        case 'failed': {
          const failure = memory.backoff.recordFailure(uid, result.reason, result.message);
          log.warn('Action failed', { vm: observation.vm, action: decision.kind, error: result.message });
          if (isPresent(observation.snapshot.pod))
            recordEvent(options.events, observation.snapshot.pod, 'Failed', result.message);
          observation = await observePod(uid, signal);
          if (observation === undefined) break;
          memory.statusManager.setStatus(
            uid,
            statusFor({ ...observation, deps: options }, decide(observation.snapshot)),
          );
          return requeueAt(failure.retryAt, observation.snapshot);
        }
      }
    }
    return observation === undefined ? done : requeueAfter(0);
  };

  const controller: Controller = createController({
    name: 'pods',
    reconcile,
    workers,
    clock,
    log,
    sources: [
      (add) => {
        enqueue = add;
        return cache.subscribe(onWatchEvent);
      },
    ],
  });

  /** What an earlier life of the agent left, also of Pods that nobody knows any more. */
  const enqueueFromJournal = async (): Promise<void> => {
    for (const entry of await journal.list()) enqueue(entry.kind === 'record' ? entry.record.pod.uid : entry.uid);
  };

  return {
    lister,
    oldestWaitingSince: () => lister.oldestWaitingSince(),
    vmExited: (uid) => enqueue(uid),
    run: async (signal) => {
      const following = cache.run(signal);
      await Promise.race([cache.synced, following]);
      if (!signal.aborted) {
        const working = controller.run(signal);
        await controller.ready;
        await enqueueFromJournal();
        await working;
      }
      memory.addresses.stop();
      memory.markerWatch.stop();
      memory.imagePulls.stop();
      memory.statusManager.stop();
      await following;
    },
  };
};
