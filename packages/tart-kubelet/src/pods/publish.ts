import { isDeepStrictEqual } from 'node:util';
import { type Client, isKubeError, type Live, type Logger, patchStatus, pods } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { findPod, identityOf } from './find-pod.ts';
import type { KnownPods } from './known-pods.ts';
import type { Pod, PodStatus } from './snapshot.ts';

/** The status of a Pod as it is to be, for the Pod as the server has it. `undefined`: nothing is to be said. */
type StatusFor = (pod: Live<Pod>) => PodStatus | undefined;

type Published =
  | 'written'
  /** The server knows no such Pod any more. */
  | 'gone'
  /** The server will never take it: whoever waits for it need not wait any longer. A right that is missing may come back. */
  | 'refused';

export interface PublisherOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly known: KnownPods;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Tells the server what Pods are like. One write at a time for each Pod; of what comes meanwhile only the last counts, since a status is
 * whole. Work on the Pod does not wait for it, but where it must be known to others before it goes on.
 */
export interface Publisher {
  /** Soon. A write that fails is tried again until another status comes. Never rejects. */
  want(uid: string, status: StatusFor): void;
  /** Now, and after all that came before it. Rejects when the server does not answer. */
  write(uid: string, status: StatusFor, signal: AbortSignal): Promise<Published>;
  /** Nothing of it is written before this has come to an end, whichever: another write of ours to the same Pod. */
  holdBack(uid: string, write: Promise<unknown>): void;
  /** As it was last wanted, whether or not the server has it. */
  wanted(pod: Live<Pod>): PodStatus | undefined;
  forget(uid: string): void;
  /** The agent ends: what could not be told is told by the next one. */
  stop(): void;
}

const mostTries = 5;
const pauseMs = 2_000;
/** Percentages and other small news are told this often at most. */
const smallNewsMs = 2_000;

/** A step on the way to a running guest that is over sooner need not be told: several are, when the image is here. */
const stepMs = 250;
const steps = new Set(['ContainerCreating', 'Pulling', 'Cloning', 'Booting', 'WaitingForIP']);

/** How long a status may wait for a newer one: a new percentage in the same waiting reason, or the next step of a start. */
const mayWaitMs = (before: PodStatus | undefined, after: PodStatus): number => {
  const reason = (status: PodStatus | undefined): string =>
    status?.containerStatuses?.[0]?.state?.waiting?.reason?.replace(/ \d+ %$/, '') ?? '';
  const [from, to] = [reason(before), reason(after)];
  if (from === 'Pulling' && to === 'Pulling') return smallNewsMs;
  return steps.has(from) && steps.has(to) ? stepMs : 0;
};

export const createPublisher = ({ client, nodeName, known, clock, log }: PublisherOptions): Publisher => {
  interface Line {
    next: StatusFor | undefined;
    /** What is wanted, for those who ask. */
    last: StatusFor | undefined;
    busy: Promise<unknown>;
    running: boolean;
    /** How long the pause is that it makes, in milliseconds; and what ends it. */
    pausing: number;
    wake: AbortController;
    readonly end: AbortController;
  }
  const lines = new Map<string, Line>();
  const lineOf = (uid: string): Line => {
    const found = lines.get(uid);
    if (found !== undefined) return found;
    const line: Line = {
      next: undefined,
      last: undefined,
      busy: Promise.resolve(),
      running: false,
      pausing: 0,
      wake: new AbortController(),
      end: new AbortController(),
    };
    lines.set(uid, line);
    return line;
  };

  const fresh = async (pod: Live<Pod>, signal: AbortSignal): Promise<Live<Pod> | undefined> => {
    const found = await findPod(client, nodeName, identityOf(pod), signal);
    if (found === undefined) known.notFound(pod.metadata.uid);
    else known.read(found);
    return found;
  };

  const send = async (uid: string, status: StatusFor, signal: AbortSignal): Promise<Published> => {
    let pod = known.get(uid);
    for (let tries = 1; pod !== undefined; tries += 1) {
      const next = status(pod);
      if (next === undefined) return 'written';
      try {
        known.written(await patchStatus(client, pods, pod, next, { signal }));
        return 'written';
      } catch (error) {
        if (isKubeError(error, 'notFound')) {
          known.notFound(uid);
          return 'gone';
        }
        if (isKubeError(error, 'invalid', 'badRequest')) {
          log.warn('The server refuses the status of a Pod', { pod: pod.metadata.name, error });
          return 'refused';
        }
        // Somebody else wrote to the Pod: what we say is about what it is now (G6).
        if (!isKubeError(error, 'conflict') || tries === mostTries) throw error;
        pod = await fresh(pod, signal);
      }
    }
    return 'gone';
  };

  /** How long it may wait. `undefined`: it is no news. */
  const patienceFor = (uid: string, status: StatusFor): number | undefined => {
    const pod = known.get(uid);
    const next = pod && status(pod);
    if (pod === undefined || next === undefined || isDeepStrictEqual(pod.status, next)) return undefined;
    return mayWaitMs(pod.status, next);
  };

  const pause = async (line: Line, milliseconds: number): Promise<void> => {
    line.wake = new AbortController();
    line.pausing = milliseconds;
    await sleep(clock, milliseconds, AbortSignal.any([line.end.signal, line.wake.signal]));
    line.pausing = 0;
  };

  const work = async (uid: string, line: Line): Promise<void> => {
    const { signal } = line.end;
    while (line.next !== undefined && !signal.aborted) {
      const patience = patienceFor(uid, line.next) ?? 0;
      if (patience > 0) await pause(line, patience);
      const status: StatusFor | undefined = line.next;
      if (status === undefined) return;
      line.next = undefined;
      try {
        await send(uid, status, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug('The status of a Pod could not be written', { uid, error });
        if (line.next === undefined) line.next = status;
        await pause(line, pauseMs);
      }
    }
  };

  return {
    want: (uid, status) => {
      const line = lineOf(uid);
      line.last = status;
      // While a write is under way nobody knows yet what the server has. To compare is work, so it is done only where it decides.
      if (!line.running && patienceFor(uid, status) === undefined) return;
      line.next = status;
      if (line.pausing > 0 && (patienceFor(uid, status) ?? 0) < line.pausing) line.wake.abort();
      if (line.running) return;
      line.running = true;
      line.busy = line.busy
        .then(() => work(uid, line))
        .finally(() => {
          line.running = false;
        });
    },
    write: async (uid, status, signal) => {
      const line = lineOf(uid);
      line.last = status;
      line.next = undefined;
      line.wake.abort();
      await line.busy;
      return send(uid, status, signal);
    },
    holdBack: (uid, write) => {
      const line = lineOf(uid);
      line.busy = Promise.allSettled([line.busy, write]);
    },
    wanted: (pod) => lines.get(pod.metadata.uid)?.last?.(pod),
    forget: (uid) => {
      lines.get(uid)?.end.abort();
      lines.delete(uid);
    },
    stop: () => {
      for (const line of lines.values()) line.end.abort();
    },
  };
};
