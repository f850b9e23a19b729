import { setImmediate } from 'node:timers/promises';
import { type Client, KubeError } from '@tartan/kube';

/** Pseudo-random numbers in [0, 1) from a seed (mulberry32). */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

type CallOutcome = 'done' | 'refused' | 'lost';
interface Waiting {
  readonly weight: number;
  /** Resolves when the call has ended, in success or failure. */
  readonly go: (outcome: CallOutcome) => Promise<void>;
}

export interface Interleaving {
  /** A client whose calls wait for their turn. One of little weight waits long. */
  clientOf(client: Client, weight: number): Client;
  /** Lets calls through until all actors have ended. */
  play(actors: readonly Promise<void>[]): Promise<void>;
}

/**
 * Serializes the calls of several actors to a server, in an order that a seed decides. Some calls fail, before or after the server has
 * handled them.
 */
export const createInterleaving = (random: () => number, faults: number): Interleaving => {
  const waiting: Waiting[] = [];

  const scheduled =
    (weight: number) =>
    <T>(call: () => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        const broken = new KubeError('unreachable', 'the connection broke');
        const go = async (outcome: CallOutcome): Promise<void> => {
          if (outcome === 'refused') return reject(broken);
          try {
            const answer = await call();
            if (outcome === 'lost') reject(broken);
            else resolve(answer);
          } catch (error) {
            reject(error);
          }
        };
        waiting.push({ weight, go });
      });

  const pick = (): Waiting | undefined => {
    let left = random() * waiting.reduce((sum, { weight }) => sum + weight, 0);
    const at = waiting.findIndex(({ weight }) => (left -= weight) < 0);
    return waiting.splice(Math.max(at, 0), 1)[0];
  };

  const drawOutcome = (): CallOutcome => {
    const drawn = random();
    return drawn < faults ? 'lost' : drawn < 2 * faults ? 'refused' : 'done';
  };

  return {
    clientOf: (client, weight) => {
      const wait = scheduled(weight);
      return {
        ...client,
        get: (...args) => wait(() => client.get(...args)),
        list: (...args) => wait(() => client.list(...args)),
        patch: (...args) => wait(() => client.patch(...args)),
        delete: (...args) => wait(() => client.delete(...args)),
      };
    },
    play: async (actors) => {
      const left = new Set(actors);
      for (const actor of actors) {
        const remove = (): unknown => left.delete(actor);
        actor.then(remove, remove);
      }
      while (left.size > 0) {
        // By then every actor either waits for its turn or has ended: only calls take time.
        await setImmediate();
        await pick()?.go(drawOutcome());
      }
      await Promise.all(actors);
    },
  };
};
