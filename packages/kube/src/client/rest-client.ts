import type { Clock } from '../clock/clock.ts';
import { iterateUntilAborted, unlessAborted } from '../errors/abort-signal.ts';
import { fromResponse } from '../errors/from-status.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { collectText } from '../transport/body.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import type { CallOptions } from './client.ts';
import { type Place, type RequestFlow, unlimited } from './request-limiter.ts';

export interface ClientOptions {
  clock: Clock;
  /** The server uses the part before the first slash as the field manager of our writes. */
  userAgent?: string;
  /** 30 s by default. */
  defaultDeadlineMs?: number;
  /** Each request waits here for its turn, within its deadline. By default requests are sent at once. */
  flow?: RequestFlow;
}

interface RestRequest {
  /** For messages: `get pods default/a`. */
  what: string;
  method: TransportRequest['method'];
  path: string;
  body?: unknown;
  /** `application/json` by default. */
  contentType?: string;
}

/** Requests to one API server, shared by the client and the subresources. */
export interface RestClient {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** The response as JSON. Rejects unless the status is 2xx. */
  request(request: RestRequest, options?: CallOptions): Promise<unknown>;
  /** The response as a stream. The deadline covers only the response headers, the signal the whole stream. */
  stream(request: RestRequest, options?: CallOptions): AsyncIterable<Uint8Array>;
}

/** Larger than any page of a list from a Kubernetes API server. */
const maxResponseBytes = 256 * 1024 * 1024;
const maxErrorBytes = 1024 * 1024;
const defaultDeadlineMs = 30_000;
const defaultUserAgent = 'tartan';

const encode = ({ what, body }: RestRequest): string => {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new KubeError('badRequest', `Cannot ${what}: the object cannot be written as JSON`, { cause: error });
  }
};

/** Wraps unexpected errors of a transport. */
const asKubeError = (what: string, error: unknown): KubeError =>
  isKubeError(error) ? error : new KubeError('unreachable', `Cannot ${what}: the transport failed`, { cause: error });

const parse = (what: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new KubeError('malformed', `Cannot ${what}: the answer is not JSON`, { cause: error });
  }
};

export const createRestClient = (transport: Transport, options: ClientOptions): RestClient => {
  const { clock, userAgent = defaultUserAgent, defaultDeadlineMs: deadlineMs = defaultDeadlineMs } = options;
  const { flow = unlimited } = options;

  /** Rejects unless the status is 2xx. */
  const exchange = async (request: RestRequest, signal: AbortSignal): Promise<TransportResponse> => {
    const { what, method, path, body, contentType = 'application/json' } = request;
    const response = await transport.send({
      method,
      path,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: encode(request) }),
      signal,
    });
    const { code, headers } = response;
    if (code >= 200 && code < 300) return response;
    const text = await collectText(response.body, maxErrorBytes).catch((error: unknown) => {
      // The status code alone is enough for an error if the body does not arrive.
      if (signal.aborted || !isKubeError(error, 'malformed', 'unreachable')) throw error;
      return '';
    });
    throw fromResponse({ what, code, headers, body: text, now: clock.now() });
  };

  /** The caller releases the place. */
  const send = async (
    request: RestRequest,
    scope: CallScope,
  ): Promise<{ response: TransportResponse; place: Place }> => {
    scope.expireWith = new KubeError(
      'timeout',
      `Cannot ${request.what}: not sent, as too many requests of this process were before it`,
    );
    const place = await flow.acquire(scope.signal);
    scope.expireWith = undefined;
    // A transport may ignore the signal; its place must not be lost with it.
    scope.signal.addEventListener('abort', place.release, { once: true });
    try {
      return { response: await exchange(request, scope.signal), place };
    } catch (error) {
      place.release();
      throw error;
    }
  };

  return {
    clock,
    deadlineMs,
    request: (request, { signal, deadlineMs: limit = deadlineMs } = {}) =>
      withCallScope({ clock, deadlineMs: limit, signal, what: request.what }, async (scope) => {
        try {
          const { response, place } = await send(request, scope);
          const text = await collectText(response.body, maxResponseBytes).finally(place.release);
          return parse(request.what, text);
        } catch (error) {
          throw asKubeError(request.what, error);
        }
      }),
    stream: async function* (request, { signal, deadlineMs: limit = deadlineMs } = {}) {
      const scope = openCallScope({ clock, deadlineMs: limit, signal, what: request.what });
      try {
        scope.signal.throwIfAborted();
        const { response, place } = await unlessAborted(scope.signal, send(request, scope));
        place.release();
        scope.clearDeadline();
        yield* iterateUntilAborted(scope.signal, response.body);
      } catch (error) {
        throw asKubeError(request.what, error);
      } finally {
        scope.close();
      }
    },
  };
};

/** Aborts a call when the caller's signal fires (`aborted`) or at its deadline (`timeout`). */
interface CallScope {
  readonly signal: AbortSignal;
  /** The reason at the deadline. By default a timeout, after which the server may have executed the request. */
  expireWith: KubeError | undefined;
  /** Only the caller's signal applies from now on. */
  clearDeadline(): void;
  /** Cancels the timer and removes the listener on the caller's signal. */
  close(): void;
}

interface CallScopeOptions {
  clock: Clock;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** For messages: `get pods default/a`. */
  what: string;
}

const openCallScope = ({ clock, deadlineMs, signal, what }: CallScopeOptions): CallScope => {
  const controller = new AbortController();
  const abort = (): void =>
    controller.abort(new KubeError('aborted', `Cannot ${what}: ended by its caller`, { cause: signal?.reason }));
  const expire = (): void => {
    const text = `Cannot ${what}: no answer within ${deadlineMs / 1000} s. It may have been carried out`;
    controller.abort(scope.expireWith ?? new KubeError('timeout', text));
  };
  const clearDeadline = clock.after(deadlineMs, expire);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const scope: CallScope = {
    signal: controller.signal,
    expireWith: undefined,
    clearDeadline,
    close: () => {
      clearDeadline();
      signal?.removeEventListener('abort', abort);
    },
  };
  return scope;
};

/** Runs `work` with a scope of its own. Settles when that signal fires even if `work` ignores it. */
export const withCallScope = async <T>(
  options: CallScopeOptions,
  work: (scope: CallScope) => Promise<T>,
): Promise<T> => {
  const scope = openCallScope(options);
  try {
    scope.signal.throwIfAborted();
    return await unlessAborted(scope.signal, work(scope));
  } finally {
    scope.close();
  }
};
