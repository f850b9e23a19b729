import type { Clock, Random } from '../clock/clock.ts';

/** Requests that the server treats alike. */
export interface RequestKind {
  /** Verb and kind: `get pods`. */
  name: string;
  /** Of HTTP. */
  method: string;
}

/** Which requests the server wants later, and how many of them at a time. */
interface Refusals {
  /** A request of this kind is in flight, until the returned function is called. */
  enter(kind: RequestKind): () => void;
  learn(kind: RequestKind, priorityLevel: string | undefined): void;
  /** For a request in flight. Returns in how many milliseconds it may be sent again. */
  add(kind: RequestKind, scope: 'kind' | 'priorityLevel', retryAfterMs: number | undefined): number;
  /** 0: the request may go. Infinity: not before another one has left. */
  waitMs(kind: RequestKind): number;
  /** When the latest pause of this kind ends or ended, monotonic clock; undefined: there is none, or it has no effect any more. */
  pausedUntil(kind: RequestKind): number | undefined;
}

interface Pause {
  until: number;
  /** Requests in flight at a time, when the pause is over. */
  window: number;
}

/** The least that Retry-After can express besides 0, which would be a busy loop. */
const minRetryMs = 1000;

/** The window doubles each time this passes without a refusal. */
const growthMs = 10_000;

/**
 * A server names the priority level of a request only in its answer. So the level of a kind is that of its last answer. Without API
 * Priority and Fairness, servers have two levels: requests that read, and requests that write.
 *
 * A server that refuses a request takes as many as are in flight beside it. Only so many are sent after the pause. Otherwise all that waited
 * would be sent at its end, to be refused again.
 */
export const createRefusals = (options: { clock: Clock; random: Random; maxInFlight: number }): Refusals => {
  const { clock, random, maxInFlight } = options;
  const levels = new Map<string, string>();
  const pauses = new Map<string, Pause>();
  const inFlight = new Map<string, { kind: RequestKind; count: number }>();

  const levelOf = ({ name, method }: RequestKind): string =>
    `level ${levels.get(name) ?? (method === 'GET' ? 'read' : 'write')}`;
  const scopesOf = (kind: RequestKind): readonly string[] => [kind.name, levelOf(kind)];
  const inFlightOf = (scope: string): number =>
    inFlight.values().reduce((sum, { kind, count }) => sum + (scopesOf(kind).includes(scope) ? count : 0), 0);

  const waitFor = (scope: string): number => {
    const pause = pauses.get(scope);
    if (pause === undefined) return 0;
    const over = clock.monotonic() - pause.until;
    if (over < 0) return -over;
    const window = pause.window * 2 ** Math.floor(over / growthMs);
    if (window >= maxInFlight) pauses.delete(scope);
    return inFlightOf(scope) < window ? 0 : Number.POSITIVE_INFINITY;
  };

  return {
    enter: (kind) => {
      const entry = inFlight.get(kind.name) ?? { kind, count: 0 };
      inFlight.set(kind.name, entry);
      entry.count++;
      return () => {
        entry.count--;
      };
    },
    learn: (kind, priorityLevel) => {
      if (priorityLevel !== undefined) levels.set(kind.name, priorityLevel);
    },
    add: (kind, scope, retryAfterMs = 0) => {
      const id = scope === 'kind' ? kind.name : levelOf(kind);
      // Random, so that the clients of a server do not come back together.
      const wait = Math.max(retryAfterMs, minRetryMs) * (1 + random() / 2);
      const until = Math.max(pauses.get(id)?.until ?? 0, clock.monotonic() + wait);
      pauses.set(id, { until, window: Math.max(1, inFlightOf(id) - 1) });
      return until - clock.monotonic();
    },
    waitMs: (kind) => (pauses.size === 0 ? 0 : Math.max(...scopesOf(kind).map(waitFor))),
    pausedUntil: (kind) => {
      const ends = scopesOf(kind).flatMap((scope) => pauses.get(scope)?.until ?? []);
      return ends.length === 0 ? undefined : Math.max(...ends);
    },
  };
};
