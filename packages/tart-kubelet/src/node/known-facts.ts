import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { Facts, HostFacts } from './host-facts.ts';

export interface KnownFacts {
  /** All facts as fresh as they can be had in a moment. Never rejects. */
  look(signal: AbortSignal): Promise<Facts>;
}

/** A pass over the Node waits this long for facts. What comes later is for the next one. */
const patienceMs = 2_000;
/** After this time a look is told to give up. */
const deadlineMs = 30_000;

/**
 * Asks all of them at once, each on its own: one that is slow, fails or hangs costs its own freshness and nothing else (G17, INC-43). A
 * label or condition does not flap because one look failed.
 */
export const createKnownFacts = (host: HostFacts, clock: Clock, log: Logger): KnownFacts => {
  let known: Facts = {};
  const busy = new Map<keyof HostFacts, Promise<void>>();
  const failing = new Set<keyof HostFacts>();

  const ask = async (name: keyof HostFacts, signal: AbortSignal): Promise<void> => {
    const tooLate = new AbortController();
    const takeBack = clock.after(deadlineMs, () => tooLate.abort(new Error(`no answer within ${deadlineMs} ms`)));
    try {
      const value = await host[name](AbortSignal.any([signal, tooLate.signal]));
      known = { ...known, [name]: value };
      if (failing.delete(name)) log.info('A fact about the host is known again', { fact: name });
    } catch (error) {
      if (signal.aborted || failing.has(name)) return;
      failing.add(name);
      log.warn('A fact about the host cannot be had; the last one known counts', { fact: name, error });
    } finally {
      takeBack();
      busy.delete(name);
    }
  };
  const names: readonly (keyof HostFacts)[] = [
    'disk',
    'guestDisks',
    'memory',
    'processes',
    'guiSession',
    'slots',
    'vmStart',
    'images',
    'labels',
    'system',
    'runtime',
    'leaseSeconds',
    'address',
  ];

  return {
    look: async (signal) => {
      for (const name of names) if (!busy.has(name)) busy.set(name, ask(name, signal));
      const all = new AbortController();
      void Promise.all(busy.values()).then(() => all.abort());
      await sleep(clock, patienceMs, AbortSignal.any([signal, all.signal]));
      return known;
    },
  };
};
