import { isDeepStrictEqual } from 'node:util';
import { type Client, isKubeError, type Live, type Logger, patchStatus, pods } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { Pod, PodStatus } from '../snapshot.ts';
import { getLivePod, identityOf, type PodCache } from './pod-cache.ts';

/** The status of a Pod as it is to be, for the Pod as the server has it. `undefined`: nothing is to be said. */
type BuildStatus = (pod: Live<Pod>) => PodStatus | undefined;

type WriteResult =
  | 'written'
  /** The server knows no such Pod any more. */
  | 'gone'
  /** The server will never take it: whoever waits for it need not wait any longer. A right that is missing may come back. */
  | 'refused';

export interface StatusManagerOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly podCache: PodCache;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Tells the server what Pods are like. One write at a time for each Pod; of what comes meanwhile only the last counts, since a status is
 * whole. Work on the Pod does not wait for it, but where it must be known to others before it goes on.
 */
export interface StatusManager {
  /** Soon. A write that fails is tried again until another status comes. Never rejects. */
  setStatus(uid: string, status: BuildStatus): void;
  /** Now, and after all that came before it. Rejects when the server does not answer. */
  writeNow(uid: string, status: BuildStatus, signal: AbortSignal): Promise<WriteResult>;
  /** As it was last wanted, whether or not the server has it. */
  desiredStatus(pod: Live<Pod>): PodStatus | undefined;
  forget(uid: string): void;
  /** The agent ends: what could not be told is told by the next one. */
  stop(): void;
}

const maxAttempts = 5;
const retryMs = 2_000;
/** Percentages and other small news are told this often at most. */
const progressIntervalMs = 2_000;

/** A step on the way to a running guest that is over sooner need not be told: several are, when the image is here. */
const startStepDelayMs = 250;
const startSteps = new Set(['ContainerCreating', 'Pulling', 'Cloning', 'Booting', 'WaitingForIP']);

/** How long a status may wait for a newer one: a new percentage in the same waiting reason, or the next step of a start. */
const maxDelayMs = (before: PodStatus | undefined, after: PodStatus): number => {
  const reason = (status: PodStatus | undefined): string =>
    status?.containerStatuses?.[0]?.state?.waiting?.reason?.replace(/ \d+ %$/, '') ?? '';
  const [from, to] = [reason(before), reason(after)];
  if (from === 'Pulling' && to === 'Pulling') return progressIntervalMs;
  return startSteps.has(from) && startSteps.has(to) ? startStepDelayMs : 0;
};

export const createStatusManager = ({
  client,
  nodeName,
  podCache,
  clock,
  log,
}: StatusManagerOptions): StatusManager => {
  interface StatusQueue {
    next: BuildStatus | undefined;
    /** What is wanted, for those who ask. */
    last: BuildStatus | undefined;
    busy: Promise<unknown>;
    running: boolean;
    /** How long the pause is that it makes, in milliseconds; and what ends it. */
    pauseLengthMs: number;
    wake: AbortController;
    readonly end: AbortController;
  }
  const queues = new Map<string, StatusQueue>();
  const queueOf = (uid: string): StatusQueue => {
    const found = queues.get(uid);
    if (found !== undefined) return found;
    const queue: StatusQueue = {
      next: undefined,
      last: undefined,
      busy: Promise.resolve(),
      running: false,
      pauseLengthMs: 0,
      wake: new AbortController(),
      end: new AbortController(),
    };
    queues.set(uid, queue);
    return queue;
  };

  const liveRead = async (pod: Live<Pod>, signal: AbortSignal): Promise<Live<Pod> | undefined> => {
    const found = await getLivePod(client, nodeName, identityOf(pod), signal);
    if (found === undefined) podCache.markNotFound(pod.metadata.uid);
    else podCache.applyLiveRead(found);
    return found;
  };

  const send = async (uid: string, status: BuildStatus, signal: AbortSignal): Promise<WriteResult> => {
    let pod = podCache.get(uid);
    for (let tries = 1; pod !== undefined; tries += 1) {
      const next = status(pod);
      if (next === undefined) return 'written';
      try {
        podCache.applyWrite(await patchStatus(client, pods, pod, next, { signal }));
        return 'written';
      } catch (error) {
        if (isKubeError(error, 'notFound')) {
          podCache.markNotFound(uid);
          return 'gone';
        }
        if (isKubeError(error, 'invalid', 'badRequest')) {
          log.warn('API server rejected the Pod status', { pod: pod.metadata.name, error });
          return 'refused';
        }
        // Somebody else wrote to the Pod: what we say is about what it is now (INC-18).
        if (!isKubeError(error, 'conflict') || tries === maxAttempts) throw error;
        pod = await liveRead(pod, signal);
      }
    }
    return 'gone';
  };

  /** How long it may wait. `undefined`: it is no news. */
  const delayFor = (uid: string, status: BuildStatus): number | undefined => {
    const pod = podCache.get(uid);
    const next = pod && status(pod);
    if (pod === undefined || next === undefined || isDeepStrictEqual(pod.status, next)) return undefined;
    return maxDelayMs(pod.status, next);
  };

  const pause = async (queue: StatusQueue, milliseconds: number): Promise<void> => {
    queue.wake = new AbortController();
    queue.pauseLengthMs = milliseconds;
    await sleep(clock, milliseconds, AbortSignal.any([queue.end.signal, queue.wake.signal]));
    queue.pauseLengthMs = 0;
  };

  const work = async (uid: string, queue: StatusQueue): Promise<void> => {
    const { signal } = queue.end;
    while (queue.next !== undefined && !signal.aborted) {
      const delay = delayFor(uid, queue.next) ?? 0;
      if (delay > 0) await pause(queue, delay);
      const status: BuildStatus | undefined = queue.next;
      if (status === undefined) return;
      queue.next = undefined;
      try {
        await send(uid, status, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug('Failed to patch Pod status', { uid, error });
        if (queue.next === undefined) queue.next = status;
        await pause(queue, retryMs);
      }
    }
  };

  return {
    setStatus: (uid, status) => {
      const queue = queueOf(uid);
      queue.last = status;
      // While a write is under way nobody knows yet what the server has. To compare is work, so it is done only where it decides.
      if (!queue.running && delayFor(uid, status) === undefined) return;
      queue.next = status;
      if (queue.pauseLengthMs > 0 && (delayFor(uid, status) ?? 0) < queue.pauseLengthMs) queue.wake.abort();
      if (queue.running) return;
      queue.running = true;
      queue.busy = queue.busy
        .then(() => work(uid, queue))
        .finally(() => {
          queue.running = false;
        });
    },
    writeNow: async (uid, status, signal) => {
      const queue = queueOf(uid);
      queue.last = status;
      queue.next = undefined;
      queue.wake.abort();
      await queue.busy;
      return send(uid, status, signal);
    },
    desiredStatus: (pod) => queues.get(pod.metadata.uid)?.last?.(pod),
    forget: (uid) => {
      queues.get(uid)?.end.abort();
      queues.delete(uid);
    },
    stop: () => {
      for (const queue of queues.values()) queue.end.abort();
    },
  };
};
