import { isTartError, type PullProgress, type RegistryCredentials, type Tart } from '@tartan/tart';
import { createLimit } from './limit.ts';

interface PullRequest {
  /** `repository@digest`, or `repository:tag`. */
  readonly image: string;
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
  /** Leaves. The pull itself ends only when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Fetches images. Two that ask for the same one share a download of it (INC-47); only so many run at a time (INC-54). */
export interface Pulls {
  /** Rejects with a TartError, or with the signal's reason. Safe to repeat. */
  pull(request: PullRequest): Promise<void>;
  /** Somebody waits for it right now. */
  isUnderWay(image: string): boolean;
  /** How many are fetched, or wait for their turn. */
  count(): number;
}

interface Flight {
  readonly done: Promise<void>;
  readonly credentials: RegistryCredentials | undefined;
  readonly listeners: Set<(progress: PullProgress) => void>;
  readonly end: AbortController;
  waiters: number;
  last: PullProgress | undefined;
}

const isSame = (one: RegistryCredentials | undefined, other: RegistryCredentials | undefined): boolean =>
  one?.host === other?.host && one?.username === other?.username && one?.password === other?.password;

const orLeft = (done: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });

export const createPulls = ({ tart, limit }: { readonly tart: Pick<Tart, 'pull'>; readonly limit: number }): Pulls => {
  const flights = new Map<string, Flight>();
  const inTurn = createLimit(limit);

  const takeOff = ({ image, credentials }: PullRequest): Flight => {
    const end = new AbortController();
    const listeners: Flight['listeners'] = new Set();
    const onProgress = (progress: PullProgress): void => {
      flight.last = progress;
      for (const listener of listeners) listener(progress);
    };
    const done = inTurn(end.signal, () => tart.pull(image, { credentials, onProgress, signal: end.signal })).finally(
      () => {
        if (flights.get(image) === flight) flights.delete(image);
      },
    );
    const flight: Flight = { done, credentials, listeners, end, waiters: 0, last: undefined };
    // Somebody may have left before it fails.
    done.catch(() => {});
    flights.set(image, flight);
    return flight;
  };

  const board = async (flight: Flight, { image, onProgress, signal }: PullRequest): Promise<void> => {
    const report = (progress: PullProgress): void => onProgress?.(progress);
    flight.waiters += 1;
    flight.listeners.add(report);
    if (flight.last !== undefined) report(flight.last);
    try {
      await orLeft(flight.done, signal);
    } finally {
      flight.listeners.delete(report);
      flight.waiters -= 1;
      if (flight.waiters === 0) {
        // Who comes now must not join what is about to end.
        if (flights.get(image) === flight) flights.delete(image);
        flight.end.abort();
      }
    }
  };

  const pull = async (request: PullRequest): Promise<void> => {
    request.signal.throwIfAborted();
    const flight = flights.get(request.image) ?? takeOff(request);
    try {
      await board(flight, request);
    } catch (error) {
      // What was refused to another Pod's secret may be given to ours.
      if (!isTartError(error, 'registry refused') || isSame(flight.credentials, request.credentials)) throw error;
      await pull(request);
    }
  };
  return { pull, isUnderWay: (image) => flights.has(image), count: () => flights.size };
};
