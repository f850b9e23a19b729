import { setImmediate } from 'node:timers/promises';
import { type Client, createClient, KubeError, type Transport, type TransportResponse } from '@tartan/kube';
import type { ManualClock } from '@tartan/kube/clock';

/** Picks one of so many. */
export type Choose = (count: number) => number;

/** Something that may happen next. */
interface Step {
  readonly what: string;
  readonly happen: () => unknown;
}

/**
 * Calls `story` once for each sequence of choices that it can make and that takes something else than the first at most so many times.
 * Answers how many there were.
 */
export const forEachChoice = async (most: number, story: (choose: Choose) => Promise<void>): Promise<number> => {
  let plan: { taken: number; readonly of: number }[] = [];
  for (let stories = 1; ; stories += 1) {
    const path: typeof plan = [];
    await story((of) => {
      const taken = plan[path.length]?.taken ?? 0;
      const isFree = path.filter((before) => before.taken > 0).length < most;
      path.push({ taken, of: isFree ? of : 1 });
      return taken;
    });
    while ((path.at(-1)?.taken ?? 0) + 1 === path.at(-1)?.of) path.pop();
    const last = path.at(-1);
    if (last === undefined) return stories;
    last.taken += 1;
    plan = path;
  }
};

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
};

/**
 * A line between the agent and its server on which everything waits for its turn: requests before they reach the server, answers, and the
 * events of a watch. Events come in their order; nothing else does.
 */
export interface SlowLine {
  readonly client: Client;
  /** What has happened, for whoever has to explain a failure. */
  readonly told: readonly string[];
  /** The watch ends now, and the server has forgotten where it was: the next thing is a list. */
  expire(): void;
  /** Lets everything happen that can, one after the other in the order that is chosen; `script` in its own order. */
  play(script: readonly Step[], choose: Choose): Promise<void>;
  /** Nothing waits any more. */
  open(): void;
}

export const createSlowLine = (inner: Transport, clock: ManualClock): SlowLine => {
  const waiting: Step[] = [];
  const told: string[] = [];
  let isOpen = false;
  let hasExpired = false;
  let cable = new AbortController();
  const turn = (what: string): Promise<void> =>
    isOpen ? Promise.resolve() : new Promise((resolve) => waiting.push({ what, happen: resolve }));

  async function* events(body: AsyncIterable<Uint8Array>, { signal }: AbortController): AsyncGenerator<Uint8Array> {
    const broken = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new KubeError('unreachable', 'the line broke')));
    });
    broken.catch(() => {});
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await Promise.race([chunks.next(), broken]);
        if (done === true) return;
        await Promise.race([turn('event'), broken]);
        yield value;
      }
    } finally {
      void chunks.return?.();
    }
  }

  const send: Transport['send'] = async (request): Promise<TransportResponse> => {
    const url = new URL(request.path, 'https://server');
    const what = `${request.method} ${url.pathname.split('/').slice(6).join('/')}`;
    if (url.searchParams.has('watch')) {
      if (hasExpired) {
        hasExpired = false;
        const body = JSON.stringify({ kind: 'Status', reason: 'Expired', message: 'too old', code: 410 });
        return {
          code: 410,
          headers: {},
          body: (async function* () {
            yield Buffer.from(body);
          })(),
        };
      }
      const answer = await inner.send(request);
      return { ...answer, body: events(answer.body, cable) };
    }
    await turn(what);
    const { body, ...answer } = await inner.send(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    await turn(`answer ${answer.code} to ${what}`);
    return {
      ...answer,
      body: (async function* () {
        yield* chunks;
      })(),
    };
  };

  return {
    client: createClient({ ...inner, send }, { clock }),
    told,
    expire: () => {
      hasExpired = true;
      cable.abort();
      cable = new AbortController();
    },
    play: async (script, choose) => {
      const rest = [...script];
      // What is left to the clock: back-offs, pauses between writes, the resync.
      const pauses = [300, 2_000, 5_000, 60_000, 301_000, 301_000];
      for (;;) {
        await settle();
        const [next] = rest;
        const options = [...waiting, ...(next ? [next] : [])];
        if (options.length === 0) {
          const pause = pauses.shift();
          if (pause === undefined) return;
          clock.advance(pause);
          continue;
        }
        const chosen = options[options.length === 1 ? 0 : choose(options.length)];
        if (chosen === undefined) throw new Error('that is no choice');
        // Whatever was passed over waits for all that is there now: a single choice is a long delay.
        const passedOver = waiting.splice(0, options.indexOf(chosen));
        if (chosen === next) rest.shift();
        else waiting.shift();
        waiting.push(...passedOver);
        told.push(chosen.what);
        await chosen.happen();
      }
    },
    open: () => {
      isOpen = true;
      for (const { happen } of waiting.splice(0)) happen();
    },
  };
};
