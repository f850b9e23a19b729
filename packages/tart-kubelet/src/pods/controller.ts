import {
  again,
  type CacheChange,
  type Controller,
  createController,
  createWatchCache,
  type Live,
  type Outcome,
  pods,
  settled,
  withoutManagedFields,
} from '@tartan/kube';
import type { Random } from '@tartan/kube/clock';
import { act } from './act.ts';
import { awaitFinalizer } from './act-on-server.ts';
import type { Scene } from './acted.ts';
import { createAddressWatch } from './address-watch.ts';
import { deadlineOf } from './deadline.ts';
import { decide } from './decide.ts';
import { followMarkers } from './follow-markers.ts';
import { createImageJobs } from './image-jobs.ts';
import { createKnownPods } from './known-pods.ts';
import { createMarkerWatch } from './marker-watch.ts';
import { createMemory } from './memory.ts';
import { observe, type Sight } from './observe.ts';
import type { PodViews } from './pod-views.ts';
import { createPodViews } from './create-pod-views.ts';
import { createPreparations } from './preparations.ts';
import { createPublisher } from './publish.ts';
import { isTerminal, isThere, type Pod, type Snapshot } from './snapshot.ts';
import { statusFor } from './status-for.ts';
import { tell } from './tell.ts';
import { createTroubles } from './troubles.ts';
import type { PodWorld } from './world.ts';

export interface PodsOptions extends PodWorld {
  readonly random: Random;
  /** Pods that are worked on at a time: all that may be bound to the Node. */
  readonly workers: number;
}

/** The Pods of this Mac, each a virtual machine. */
export interface Pods {
  readonly views: PodViews;
  /** When the oldest Pod was made that waits for its virtual machine to run. Those that are not for Macs wait for nobody. */
  oldestWaitingSince(): number | undefined;
  /** The virtual machine of this Pod has ended. */
  exited(uid: string): void;
  /** Nothing is done for Pods before what an earlier life of the agent left is known. */
  run(signal: AbortSignal): Promise<void>;
}

/** A pass ends at some point, so that others of its Pod (a deletion) are seen. Far more than any life takes. */
const mostActs = 50;
/** Whatever was missed is seen then. */
const resyncMs = 5 * 60_000;

/** Nothing of it starts any more. */
const isOver = ({ pod }: Snapshot): boolean =>
  !isThere(pod) || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod);

export const createPods = (options: PodsOptions): Pods => {
  const { client, clock, journal, log, nodeName, random, workers } = options;
  let enqueue = (_uid: string): void => {};
  const known = createKnownPods();
  const changed = (uid: string): void => enqueue(uid);
  const memory = createMemory(
    {
      known,
      images: createImageJobs({ ensureGolden: options.ensureGolden, changed, log }),
      addresses: createAddressWatch({ tart: options.tart, leases: options.leases, changed, clock }),
      markers: createMarkerWatch({ read: (vm) => options.guests.markers(vm), changed, clock }),
      preparations: createPreparations(clock),
      troubles: createTroubles(clock),
      publisher: createPublisher({ client, nodeName, known, clock, log }),
    },
    clock,
  );
  const cache = createWatchCache({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    transform: withoutManagedFields,
    clock,
    random,
    log,
  });
  const views = createPodViews(known, memory.publisher);
  /** Pods for which there is no slot: whoever leaves one wakes them. */
  const inLine = new Set<string>();
  const wakeLine = (): void => {
    for (const uid of inLine) enqueue(uid);
    inLine.clear();
  };

  const told = (change: CacheChange<Pod>): void => {
    const pod: Live<Pod> = change.type === 'removed' ? change.previous : change.object;
    const { uid } = pod.metadata;
    if (change.type === 'removed') known.removed(uid);
    else if (!known.watched(pod)) return;
    enqueue(uid);
  };

  /** At the latest when its time is over. */
  const outcomeOf = (until: number | undefined, { pod }: Snapshot): Outcome => {
    const now = clock.now();
    const deadline = isThere(pod) ? deadlineOf(pod) : undefined;
    const times = [until, deadline !== undefined && deadline > now ? deadline : undefined];
    return again(Math.max(0, Math.min(resyncMs, ...times.map((time) => (time === undefined ? resyncMs : time - now)))));
  };

  const look = async (uid: string, signal: AbortSignal): Promise<Sight | undefined> => {
    const sight = await observe(options, memory, uid, signal);
    if (sight !== undefined) views.seen(sight);
    else if (known.get(uid) === undefined) {
      memory.forget(uid);
      views.forget(uid);
    }
    return sight;
  };

  const reconcile = async (uid: string, signal: AbortSignal): Promise<Outcome> => {
    let sight = await look(uid, signal);
    for (let acts = 0; sight !== undefined && acts < mostActs; acts += 1) {
      signal.throwIfAborted();
      followMarkers(memory.markers, sight);
      const scene: Scene = { ...sight, world: options, memory, signal };
      const decision = decide(sight.snapshot);
      log.debug('A Pod', { uid, vm: sight.vm, decision: decision.kind });
      if (decision.kind === 'wait' && decision.for.reason === 'WaitingForSlot') inLine.add(uid);
      if (isOver(sight.snapshot)) memory.images.drop(uid);
      // The first one is written together with the finalizer.
      if (decision.kind !== 'add finalizer' && decision.kind !== 'await finalizer')
        memory.publisher.want(uid, statusFor(scene, decision));
      const acted = await act(scene, decision);
      // A slot may be free now.
      if (decision.kind === 'end' || decision.kind === 'delete VM' || decision.kind === 'take back start') wakeLine();
      switch (acted.kind) {
        case 'rest':
          if (decision.kind === 'forget') return settled;
          return outcomeOf(acted.until, sight.snapshot);
        case 'changed':
          sight = { ...sight, snapshot: { ...sight.snapshot, now: clock.now(), ...acted.facts } };
          views.seen(sight);
          break;
        case 'look again':
          sight = await look(uid, signal);
          break;
        case 'failed': {
          const trouble = memory.troubles.failed(uid, acted.reason, acted.message);
          log.warn('An act for a Pod failed', { vm: sight.vm, doing: decision.kind, why: acted.message });
          if (isThere(sight.snapshot.pod)) tell(options.events, sight.snapshot.pod, 'Failed', acted.message);
          // Else the next decision would be to wait for it, and the failure would not be told.
          if (memory.finalizerAnswers.has(uid)) await awaitFinalizer(scene);
          sight = await look(uid, signal);
          if (sight === undefined) break;
          memory.publisher.want(uid, statusFor({ ...sight, world: options }, decide(sight.snapshot)));
          return outcomeOf(trouble.retryAt, sight.snapshot);
        }
      }
    }
    return sight === undefined ? settled : again(0);
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
        return cache.subscribe(told);
      },
    ],
  });

  /** What an earlier life of the agent left, also of Pods that nobody knows any more. */
  const recall = async (): Promise<void> => {
    for (const entry of await journal.list()) enqueue(entry.kind === 'record' ? entry.record.pod.uid : entry.uid);
  };

  return {
    views,
    oldestWaitingSince: () => views.oldestWaitingSince(),
    exited: (uid) => enqueue(uid),
    run: async (signal) => {
      const following = cache.run(signal);
      await Promise.race([cache.synced, following]);
      if (!signal.aborted) {
        const working = controller.run(signal);
        await controller.ready;
        await recall();
        await working;
      }
      memory.addresses.stop();
      memory.markers.stop();
      memory.images.stop();
      memory.publisher.stop();
      await following;
    },
  };
};
