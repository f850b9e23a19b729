import { isDeepStrictEqual } from 'node:util';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { Markers } from '../guest/markers.ts';

export interface MarkerWatchOptions {
  readonly read: (vm: string) => Promise<Markers>;
  readonly changed: (uid: string) => void;
  readonly clock: Clock;
}

/**
 * Looks at what runners say of themselves while their virtual machines are on. Nobody tells the Mac that a guest wrote something, so it is
 * looked for. Whoever is told looks for himself: this one only knows that there is something new.
 */
export interface MarkerWatch {
  /** `seen`: by whoever asks. He is told once it is something else; from then on this is what counts. */
  watch(uid: string, vm: string, seen: Markers): void;
  /** There is nothing more to hear of it. */
  forget(uid: string): void;
  stop(): void;
}

/** Two files that are opened, and no process. A job that begins is known to the controller a moment later than to GitHub. */
const lookMs = 2_000;

export const createMarkerWatch = ({ read, changed, clock }: MarkerWatchOptions): MarkerWatch => {
  const watched = new Map<string, { seen: Markers; readonly end: AbortController }>();

  const look = async (uid: string, vm: string, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await sleep(clock, lookMs, signal);
      if (signal.aborted) return;
      const markers = await read(vm);
      const known = watched.get(uid);
      if (signal.aborted || known === undefined) return;
      if (isDeepStrictEqual(known.seen, markers)) continue;
      known.seen = markers;
      changed(uid);
    }
  };

  return {
    watch: (uid, vm, seen) => {
      const known = watched.get(uid);
      if (known !== undefined) {
        known.seen = seen;
        return;
      }
      const end = new AbortController();
      watched.set(uid, { seen, end });
      void look(uid, vm, end.signal);
    },
    forget: (uid) => {
      watched.get(uid)?.end.abort();
      watched.delete(uid);
    },
    stop: () => {
      for (const { end } of watched.values()) end.abort();
      watched.clear();
    },
  };
};
