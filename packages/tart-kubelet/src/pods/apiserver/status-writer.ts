import { isDeepStrictEqual } from 'node:util';
import { isKubeError, type Live, patchStatus, pods } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import type { PodDeps } from '../context.ts';
import type { Pod, PodStatus } from '../snapshot.ts';
import { type PodCache, refreshCache } from './pod-cache.ts';

/** Computes the desired status from the Pod on the API server. `undefined`: no write. */
type BuildStatus = (pod: Live<Pod>) => PodStatus | undefined;

type WriteResult =
  | 'written'
  /** The Pod does not exist any more. */
  | 'gone'
  /** The API server will never accept it. A missing permission does not count: it may be granted later. */
  | 'refused';

const maxAttempts = 5;
const retryMs = 2_000;
/** Interval between writes of pull progress. */
const progressIntervalMs = 2_000;

/** A start step shorter than this is not written: with a local image several are. */
const startStepDelayMs = 250;
const startSteps = new Set(['ContainerCreating', 'Pulling', 'Cloning', 'Booting', 'WaitingForIP']);

/** How long a status may wait for a newer one: a new percentage with the same waiting reason, or the next start step. */
const maxDelayMs = (before: PodStatus | undefined, after: PodStatus): number => {
  const reason = (status: PodStatus | undefined): string =>
    status?.containerStatuses?.[0]?.state?.waiting?.reason?.replace(/ \d+ %$/, '') ?? '';
  const [from, to] = [reason(before), reason(after)];
  if (from === 'Pulling' && to === 'Pulling') return progressIntervalMs;
  return startSteps.has(from) && startSteps.has(to) ? startStepDelayMs : 0;
};

/** Writes the status of one Pod, one write at a time. Of statuses set meanwhile only the last is written: each is complete. */
export const createStatusWriter = (
  { client, clock, log, nodeName }: Pick<PodDeps, 'client' | 'clock' | 'log' | 'nodeName'>,
  podCache: PodCache,
  uid: string,
) => {
  const end = new AbortController();
  let next: BuildStatus | undefined;
  let last: BuildStatus | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  /** The length of the current pause in milliseconds, and what ends it. */
  let pauseMs = 0;
  let wake = new AbortController();

  const send = async (status: BuildStatus, signal: AbortSignal): Promise<WriteResult> => {
    let pod = podCache.get(uid);
    for (let attempt = 1; pod !== undefined; attempt += 1) {
      const wanted = status(pod);
      if (wanted === undefined) return 'written';
      try {
        podCache.applyWrite(await patchStatus(client, pods, pod, wanted, { signal }));
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
        // Conflict: another client wrote to the Pod. Compute the status from its new state (INC-18).
        if (!isKubeError(error, 'conflict') || attempt === maxAttempts) throw error;
        pod = await refreshCache(client, nodeName, podCache, pod, signal);
      }
    }
    return 'gone';
  };

  /** How long it may wait. `undefined`: the Pod has this status. */
  const delayFor = (status: BuildStatus): number | undefined => {
    const pod = podCache.get(uid);
    const wanted = pod && status(pod);
    if (pod === undefined || wanted === undefined || isDeepStrictEqual(pod.status, wanted)) return undefined;
    return maxDelayMs(pod.status, wanted);
  };

  const pause = async (milliseconds: number): Promise<void> => {
    wake = new AbortController();
    pauseMs = milliseconds;
    await sleep(clock, milliseconds, AbortSignal.any([end.signal, wake.signal]));
    pauseMs = 0;
  };

  const writeAll = async (): Promise<void> => {
    const { signal } = end;
    while (next !== undefined && !signal.aborted) {
      const delay = delayFor(next) ?? 0;
      if (delay > 0) await pause(delay);
      const status = takeNext();
      if (status === undefined) return;
      try {
        await send(status, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug('Failed to patch Pod status', { uid, error });
        next ??= status;
        await pause(retryMs);
      }
    }
  };
  const takeNext = (): BuildStatus | undefined => {
    const status = next;
    next = undefined;
    return status;
  };

  return {
    /** Writes it soon, and retries until another status is set. Never rejects. */
    set: (status: BuildStatus) => {
      last = status;
      // During a write the server's state is unknown.
      if (!isWriting && delayFor(status) === undefined) return;
      next = status;
      if (pauseMs > 0 && (delayFor(status) ?? 0) < pauseMs) wake.abort();
      if (isWriting) return;
      isWriting = true;
      writing = writing.then(writeAll).finally(() => {
        isWriting = false;
      });
    },
    /** Writes it now, after earlier ones. Rejects when the API server is unreachable. */
    writeNow: async (status: BuildStatus, signal: AbortSignal) => {
      last = status;
      next = undefined;
      wake.abort();
      await writing;
      return send(status, signal);
    },
    /** The status that was set last, written or not. */
    desired: (pod: Live<Pod>) => last?.(pod),
    stop: () => end.abort(),
  };
};

export type StatusWriter = ReturnType<typeof createStatusWriter>;
