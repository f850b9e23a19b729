import type { Clock } from '../clock/clock.ts';
import { iterateUntilAborted, unlessAborted } from '../errors/abort-signal.ts';
import { fromResponse } from '../errors/from-status.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { collectText } from '../transport/body.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import type { CallOptions } from './client.ts';

export interface ClientOptions {
  clock: Clock;
  /** The server remembers its first part, up to a slash, as the manager of the fields that we write. */
  userAgent?: string;
  /** 30 s by default. */
  defaultDeadlineMs?: number;
}

interface RestRequest {
  /** For texts: `get pods default/a`. */
  what: string;
  method: TransportRequest['method'];
  path: string;
  body?: unknown;
  /** `application/json` by default. */
  contentType?: string;
}

/** Requests to one API server: what the client and the subresources have in common. */
export interface RestClient {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** The answer as JSON. Rejects unless it is 2xx. */
  request(request: RestRequest, options?: CallOptions): Promise<unknown>;
  /** The answer as it comes. The deadline is for its beginning, and the signal for all of it. */
  stream(request: RestRequest, options?: CallOptions): AsyncIterable<Uint8Array>;
}

/** Of a list of everything, a page at a time; more than this is no answer of a Kubernetes API. */
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

/** Whatever a transport throws that it should not. */
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

  const send = async (request: RestRequest, signal: AbortSignal): Promise<TransportResponse> => {
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
      // A refusal whose text does not arrive is still a refusal.
      if (signal.aborted || !isKubeError(error, 'malformed', 'unreachable')) throw error;
      return '';
    });
    throw fromResponse({ what, code, headers, body: text, now: clock.now() });
  };

  return {
    clock,
    deadlineMs,
    request: (request, { signal, deadlineMs: limit = deadlineMs } = {}) =>
      withCallScope({ clock, deadlineMs: limit, signal, what: request.what }, async (inner) => {
        try {
          const { body } = await send(request, inner);
          return parse(request.what, await collectText(body, maxResponseBytes));
        } catch (error) {
          throw asKubeError(request.what, error);
        }
      }),
    stream: async function* (request, { signal, deadlineMs: limit = deadlineMs } = {}) {
      const scope = openCallScope({ clock, deadlineMs: limit, signal, what: request.what });
      try {
        scope.signal.throwIfAborted();
        const { body } = await unlessAborted(scope.signal, send(request, scope.signal));
        scope.clearDeadline();
        yield* iterateUntilAborted(scope.signal, body);
      } catch (error) {
        throw asKubeError(request.what, error);
      } finally {
        scope.close();
      }
    },
  };
};

/** Ends a call for its caller's signal (`aborted`) or for its deadline (`timeout`). */
interface CallScope {
  readonly signal: AbortSignal;
  /** From now on only the caller's signal counts. */
  clearDeadline(): void;
  /** Lets go of the clock and of the caller's signal. */
  close(): void;
}

interface CallScopeOptions {
  clock: Clock;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** For the text: `get pods default/a`. */
  what: string;
}

const openCallScope = ({ clock, deadlineMs, signal, what }: CallScopeOptions): CallScope => {
  const controller = new AbortController();
  const abort = (): void =>
    controller.abort(new KubeError('aborted', `Cannot ${what}: ended by its caller`, { cause: signal?.reason }));
  const expire = (): void => {
    const text = `Cannot ${what}: no answer within ${deadlineMs / 1000} s. It may have been carried out`;
    controller.abort(new KubeError('timeout', text));
  };
  const clearDeadline = clock.after(deadlineMs, expire);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return {
    signal: controller.signal,
    clearDeadline,
    close: () => {
      clearDeadline();
      signal?.removeEventListener('abort', abort);
    },
  };
};

/** Runs `work` in a scope of its own; ends with it even if `work` does not care for its signal. */
export const withCallScope = async <T>(
  options: CallScopeOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const scope = openCallScope(options);
  try {
    scope.signal.throwIfAborted();
    return await unlessAborted(scope.signal, work(scope.signal));
  } finally {
    scope.close();
  }
};
