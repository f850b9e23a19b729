import { KubeError, type Transport, type TransportRequest, type TransportResponse } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Traffic } from '@tartan/kube/testing';
import { addressOf, type Alias, kubernetesEffect, scalewayEffect } from './effects.ts';
import type { FaultWatch, Mode } from './faults.ts';

/** Echoes the whole request, including secrets: logs of failures must not contain those. */
const errorResponse = ({ path, body }: TransportRequest, mode: 'conflict' | 'refused'): TransportResponse => {
  const code = mode === 'conflict' ? 409 : 422;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: mode === 'conflict' ? 'Conflict' : 'Invalid',
    code,
    message: `Operation cannot be fulfilled on ${path}. Sent was ${body ?? ''}`,
  };
  const text = new TextEncoder().encode(JSON.stringify(status));
  return {
    code,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield text;
    })(),
  };
};

/** Sees everything that managers do, when it reaches the other side. */
interface Observer {
  /** Called just before a changing call reaches Scaleway. */
  scalewayCalled(identity: string, method: string, url: string, body: string): void;
  kubernetesAsked(request: TransportRequest): void;
  /** Called just after a change. */
  happened(effect: string): void;
}

interface FaultyConnectionsOptions {
  readonly identity: string;
  readonly time: Clock & Traffic;
  readonly transport: Transport;
  readonly fetch: typeof fetch;
  readonly alias: Alias;
  readonly watch: FaultWatch;
  readonly observer: Observer;
}

/** All connections between one process and the harness. They can be cut forever, like kill -9 does, or held, like SIGSTOP does. */
export interface FaultyConnections {
  readonly identity: string;
  readonly watch: FaultWatch;
  readonly state: 'alive' | 'frozen' | 'dead';
  readonly clock: Clock;
  readonly transport: Transport;
  readonly fetch: typeof fetch;
  /** A change on a Mac, made by this process. Rejects with `ConnectionCut` when the connection broke after the change. */
  touch(effect: string, change: () => void): Promise<void>;
  /** Passes on a result, as soon as the process is not frozen. Never for a dead process. */
  deliver<T>(answer: T): Promise<T>;
  kill(): void;
  thaw(): void;
  /** Kills the process and rejects everything that it waits for, to free the memory. */
  dispose(): void;
}

export class ConnectionCut extends Error {}

export const createFaultyConnections = (options: FaultyConnectionsOptions): FaultyConnections => {
  const { identity, time, alias, watch, observer } = options;
  const death = new AbortController();
  const timers = new Set<() => void>();
  const late: (() => void)[] = [];
  let state: FaultyConnections['state'] = 'alive';
  let thawed = Promise.withResolvers<void>();
  const disposed = Promise.withResolvers<never>();
  disposed.promise.catch(() => {});
  const never = (): Promise<never> => disposed.promise;

  const kill = (): void => {
    state = 'dead';
    for (const cancel of timers) cancel();
    timers.clear();
    death.abort();
  };
  const deliver = async <T>(answer: T): Promise<T> => {
    if (state === 'frozen') await thawed.promise;
    return state === 'dead' ? never() : answer;
  };
  /** Applies the fault for this effect, if there is one. */
  const withFault = async <T>(
    effect: string,
    change: () => Promise<T>,
    lost: () => Error,
    refusal?: (mode: 'conflict' | 'refused') => T,
  ): Promise<T> => {
    const mode: Mode | undefined = watch.record(effect);
    if (mode === 'killed before') {
      kill();
      return never();
    }
    if ((mode === 'conflict' || mode === 'refused') && refusal) return refusal(mode);
    const answer = await change();
    observer.happened(effect);
    if (mode === 'killed after') kill();
    if (mode === 'frozen') state = 'frozen';
    await deliver(undefined);
    if (mode === 'answer lost') throw lost();
    return answer;
  };

  const clock: Clock = {
    now: () => time.now(),
    monotonic: () => time.monotonic(),
    after: (milliseconds, run) => {
      if (state === 'dead') return () => {};
      let wanted = true;
      const fire = (): void => {
        timers.delete(cancel);
        if (!wanted) return;
        if (state === 'frozen') late.push(fire);
        else if (state === 'alive') run();
      };
      const cancel = time.after(milliseconds, fire);
      timers.add(cancel);
      return () => {
        wanted = false;
        timers.delete(cancel);
        cancel();
      };
    },
  };

  /** A request from the turn in which the process freezes counts as already sent: it goes out, and only its answer is held. */
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    if (state === 'dead') return never();
    const effect = kubernetesEffect(request, alias);
    const signal = AbortSignal.any([request.signal, death.signal]);
    const forward = (): Promise<TransportResponse> => time.during(() => options.transport.send({ ...request, signal }));
    observer.kubernetesAsked(request);
    const answer =
      effect === undefined
        ? await forward()
        : await withFault(
            effect,
            forward,
            () => new KubeError('unreachable', 'The connection broke before the answer was complete'),
            (mode) => errorResponse(request, mode),
          );
    return deliver({ ...answer, body: held(answer.body, deliver) });
  };

  return {
    identity,
    watch,
    get state() {
      return state;
    },
    clock,
    deliver,
    transport: { ...options.transport, send },
    fetch: async (input, init) => {
      if (state === 'dead') return never();
      const url = addressOf(input);
      const method = init?.method ?? 'GET';
      const body = typeof init?.body === 'string' ? init.body : '';
      const effect = scalewayEffect(method, url, body, alias);
      const forward = (): Promise<Response> => {
        if (effect !== undefined) observer.scalewayCalled(identity, method, url, body);
        return time.during(() => options.fetch(input, init));
      };
      if (effect === undefined) return deliver(await forward());
      return withFault(effect, forward, () => new TypeError('fetch failed: the other side closed the connection'));
    },
    touch: (effect, change) =>
      withFault(
        effect,
        async () => change(),
        () => new ConnectionCut('the connection broke'),
      ),
    kill,
    dispose: () => {
      kill();
      disposed.reject(new KubeError('unreachable', 'This process is dead'));
    },
    thaw: () => {
      if (state !== 'frozen') return;
      state = 'alive';
      thawed.resolve();
      thawed = Promise.withResolvers();
      // After what has arrived meanwhile: otherwise a gate that relies on a timer would be open for a moment.
      time.after(0, () => {
        for (const run of late.splice(0)) run();
      });
    },
  };
};

async function* held(
  body: AsyncIterable<Uint8Array>,
  deliver: FaultyConnections['deliver'],
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) yield await deliver(chunk);
  await deliver(undefined);
}
