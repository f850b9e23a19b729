import { setImmediate } from 'node:timers/promises';
import { type Client, createClient, KubeError, type Transport, type TransportResponse } from '@tartan/kube';
import type { ManualClock } from '@tartan/kube/clock';

/** Picks one of so many. */
export type Choose = (count: number) => number;

/** Something that may happen next. */
interface Step {
  readonly what: string;
  readonly run: () => unknown;
}

/**
 * Calls `story` once for each sequence of choices that it can make and that takes something else than the first at most so many times.
 * Answers how many there were.
 */
export const forEachChoice = async (most: number, scenario: (choose: Choose) => Promise<void>): Promise<number> => {
  let plan: { taken: number; readonly of: number }[] = [];
  for (let count = 1; ; count += 1) {
    const path: typeof plan = [];
    await scenario((of) => {
      const taken = plan[path.length]?.taken ?? 0;
      const isFree = path.filter((before) => before.taken > 0).length < most;
      path.push({ taken, of: isFree ? of : 1 });
      return taken;
    });
    while ((path.at(-1)?.taken ?? 0) + 1 === path.at(-1)?.of) path.pop();
    const last = path.at(-1);
    if (last === undefined) return count;
    last.taken += 1;
    plan = path;
  }
};

const flushMicrotasks = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
};

/**
 * A line between the agent and its server on which everything waits for its turn: requests before they reach the server, answers, and the
 * events of a watch. Events come in their order; nothing else does.
 */
export interface ControlledTransport {
  readonly client: Client;
  /** What has happened, for whoever has to explain a failure. */
  readonly trace: readonly string[];
  /** The watch ends now, and the server has forgotten where it was: the next thing is a list. */
  expireWatch(): void;
  /** Lets everything happen that can, one after the other in the order that is chosen; `script` in its own order. */
  run(script: readonly Step[], choose: Choose): Promise<void>;
  /** Nothing waits any more. */
  releaseAll(): void;
}

export const createControlledTransport = (inner: Transport, clock: ManualClock): ControlledTransport => {
  const waiting: Step[] = [];
  const trace: string[] = [];
  let isOpen = false;
  let hasExpired = false;
  let connection = new AbortController();
  const waitForTurn = (what: string): Promise<void> =>
    isOpen ? Promise.resolve() : new Promise((resolve) => waiting.push({ what, run: resolve }));

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
        await Promise.race([waitForTurn('event'), broken]);
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
      return { ...answer, body: events(answer.body, connection) };
    }
    await waitForTurn(what);
    const { body, ...answer } = await inner.send(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    await waitForTurn(`answer ${answer.code} to ${what}`);
    return {
      ...answer,
      body: (async function* () {
        yield* chunks;
      })(),
    };
  };

  return {
    client: createClient({ ...inner, send }, { clock }),
    trace,
    expireWatch: () => {
      hasExpired = true;
      connection.abort();
      connection = new AbortController();
    },
    run: async (script, choose) => {
      const rest = [...script];
      // What is left to the clock: back-offs, pauses between writes, the resync.
      const pauses = [300, 2_000, 5_000, 60_000, 301_000, 301_000];
      for (;;) {
        await flushMicrotasks();
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
        trace.push(chosen.what);
        await chosen.run();
      }
    },
    releaseAll: () => {
      isOpen = true;
      for (const { run } of waiting.splice(0)) run();
    },
  };
};
