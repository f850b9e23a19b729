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
import { createPodCache } from './apiserver/pod-cache.ts';
import { type ActionContext, type PodDeps, recordEvent } from './context.ts';
import { decide } from './decide.ts';
import { observe, type PodObservation } from './observe.ts';
import { createPodLister } from './pod-lister.ts';
import { createPodWorker, nextFailure, type PodWorker, stopPodWorker } from './pod-worker.ts';
import { updateMarkerWatch } from './runner-busy.ts';
import { isPresent, isTerminal, type Pod, type Snapshot } from './snapshot.ts';
import { statusFor } from './status.ts';
import { deadlineOf } from './termination.ts';

export interface PodControllerOptions extends PodDeps {
  readonly random: Random;
  /** Concurrent reconciles: as many as Pods can be bound to the Node. */
  readonly workers: number;
}

/** Ends a reconcile at some point, so that a deletion of the Pod is seen. Far more than any lifecycle needs. */
const maxActionsPerPass = 50;
/** Catches missed events. */
const resyncMs = 5 * 60_000;

/** Nothing of the Pod may start any more. */
const isTerminatingOrDone = ({ pod }: Snapshot): boolean =>
  !isPresent(pod) || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod);

/** Reconciles the Pods of this Mac, each a VM. */
export const createPodController = (options: PodControllerOptions) => {
  const { client, clock, journal, log, nodeName, random } = options;
  let enqueue = (_uid: string): void => {};
  const podCache = createPodCache();
  const workers = new Map<string, PodWorker>();
  const workerOf = (uid: string): PodWorker => {
    const worker = workers.get(uid) ?? createPodWorker(options, podCache, uid, () => enqueue(uid));
    workers.set(uid, worker);
    return worker;
  };
  const drop = (uid: string, worker: PodWorker): void => {
    stopPodWorker(worker);
    worker.releaseVm?.();
    workers.delete(uid);
  };
  const cache = createInformer({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    transform: withoutManagedFields,
    clock,
    random,
    log,
  });
  const requeueSlotWaiters = (): void => {
    for (const [uid, worker] of workers)
      if (worker.waitsForSlot) {
        worker.waitsForSlot = false;
        enqueue(uid);
      }
  };

  const onWatchEvent = (change: InformerEvent<Pod>): void => {
    const pod: Live<Pod> = change.type === 'removed' ? change.previous : change.object;
    const { uid } = pod.metadata;
    if (change.type === 'removed') podCache.applyWatchDelete(uid);
    else if (!podCache.applyWatch(pod)) return;
    enqueue(uid);
  };

  /** Not later than the Pod's deadline. */
  const requeueAt = (until: number | undefined, { pod }: Snapshot): ReconcileResult => {
    const now = clock.now();
    const deadline = isPresent(pod) ? deadlineOf(pod) : undefined;
    const next = Math.min(until ?? Infinity, deadline !== undefined && deadline > now ? deadline : Infinity);
    return requeueAfter(Math.max(0, Math.min(resyncMs, next - now)));
  };

  const reconcile = async (uid: string, signal: AbortSignal): Promise<ReconcileResult> => {
    const worker = workerOf(uid);
    const common = { deps: options, podCache, worker, workers, signal };
    const observePod = async (): Promise<PodObservation | undefined> => {
      const observation = await observe(common, uid);
      const isMissing = observation !== undefined && !isPresent(observation.snapshot.pod);
      worker.notFoundSince = isMissing ? (worker.notFoundSince ?? clock.monotonic()) : undefined;
      if (observation !== undefined) worker.observation = observation;
      else if (podCache.get(uid) === undefined) drop(uid, worker);
      return observation;
    };
    let observation = await observePod();
    for (let actions = 0; observation !== undefined && actions < maxActionsPerPass; actions += 1) {
      signal.throwIfAborted();
      updateMarkerWatch(worker.markerWatch, observation);
      const context: ActionContext = { ...observation, ...common };
      const decision = decide(observation.snapshot);
      log.debug('Reconciling Pod', { uid, vm: observation.vm, decision: decision.kind });
      if (decision.kind === 'wait' && decision.for.reason === 'WaitingForSlot') worker.waitsForSlot = true;
      if (isTerminatingOrDone(observation.snapshot)) worker.imagePull.cancel();
      // The first status is written together with the finalizer.
      if (decision.kind !== 'add finalizer') worker.status.set(statusFor(context, decision));
      const result = await act(context, decision);
      // A slot may be free now.
      if (decision.kind === 'end' || decision.kind === 'delete VM' || decision.kind === 'undo start')
        requeueSlotWaiters();
      switch (result.kind) {
        case 'done':
          if (decision.kind !== 'delete record') return requeueAt(result.until, observation.snapshot);
          drop(uid, worker);
          return done;
        case 'changed':
          observation = { ...observation, snapshot: { ...observation.snapshot, now: clock.now(), ...result.facts } };
          worker.observation = observation;
          break;
        case 'observe again':
          observation = await observePod();
          break;
        case 'failed': {
          const failure = nextFailure(worker.lastFailure, result.reason, result.message, clock.now());
          worker.lastFailure = failure;
          log.warn('Action failed', { vm: observation.vm, action: decision.kind, error: result.message });
          if (isPresent(observation.snapshot.pod))
            recordEvent(options.events, observation.snapshot.pod, 'Failed', result.message);
          observation = await observePod();
          if (observation === undefined) break;
          worker.status.set(statusFor({ ...observation, deps: options }, decide(observation.snapshot)));
          return requeueAt(failure.retryAt, observation.snapshot);
        }
      }
    }
    return observation === undefined ? done : requeueAfter(0);
  };

  const controller: Controller = createController({
    name: 'pods',
    reconcile,
    workers: options.workers,
    clock,
    log,
    sources: [
      (add) => {
        enqueue = add;
        return cache.subscribe(onWatchEvent);
      },
    ],
  });

  return {
    lister: createPodLister(podCache, workers),
    /** Call when the VM of this Pod has ended. */
    vmExited: (uid: string) => enqueue(uid),
    /** Reconciles no Pod before the watch cache is synced. */
    run: async (signal: AbortSignal) => {
      const following = cache.run(signal);
      await Promise.race([cache.synced, following]);
      if (!signal.aborted) {
        const working = controller.run(signal);
        await controller.ready;
        // UIDs in the journal of a previous agent process, including those of Pods that no longer exist.
        for (const uid of (await journal.list()).uids) enqueue(uid);
        await working;
      }
      for (const worker of workers.values()) stopPodWorker(worker);
      await following;
    },
  };
};

export type PodController = ReturnType<typeof createPodController>;
