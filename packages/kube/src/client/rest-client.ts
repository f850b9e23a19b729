import type { Clock } from '../clock/clock.ts';
import { iterateUntilAborted, unlessAborted } from '../errors/abort-signal.ts';
import { fromResponse } from '../errors/from-status.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { collectBytes, collectText, decodeText } from '../transport/body.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { type CallScope, openCallScope, withCallScope } from './call-scope.ts';
import type { CallOptions } from './client.ts';
import { type Place, type RequestFlow, unlimited } from './request-limiter.ts';

export interface ClientOptions {
  clock: Clock;
  /** The server uses the part before the first slash as the field manager of our writes. */
  userAgent?: string;
  /** 30 s by default. */
  defaultDeadlineMs?: number;
  /**
   * Each request waits here for its turn, and is sent again when the server refused it, within its deadline. By default a request is sent
   * at once, and once.
   */
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
  /** The response as JSON. Rejects unless the status is 2xx. `read`: the JSON text in the response; by default the whole response. */
  request(request: RestRequest, options?: CallOptions, read?: (bytes: Uint8Array) => string): Promise<unknown>;
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

/**
 * Whether the server did not begin with the request, and wants it later: then every verb may be sent again. An eviction that a disruption
 * budget forbids has the same code, but is an answer.
 */
const isRefusal = ({ code, retryAfterMs, causes }: KubeError): boolean =>
  retryAfterMs !== undefined &&
  (code === 429 || code === 503) &&
  !causes.some(({ reason }) => reason === 'DisruptionBudget');

export const createRestClient = (transport: Transport, options: ClientOptions): RestClient => {
  const { clock, userAgent = defaultUserAgent, defaultDeadlineMs: deadlineMs = defaultDeadlineMs } = options;
  const { flow = unlimited } = options;

  const exchange = (request: RestRequest, signal: AbortSignal): Promise<TransportResponse> => {
    const { method, path, body, contentType = 'application/json' } = request;
    return transport.send({
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
  };

  const errorOf = async (what: string, response: TransportResponse, signal: AbortSignal): Promise<KubeError> => {
    const { code, headers } = response;
    const body = await collectText(response.body, maxErrorBytes).catch((error: unknown) => {
      // The status code alone is enough for an error if the body does not arrive.
      if (signal.aborted || !isKubeError(error, 'malformed', 'unreachable')) throw error;
      return '';
    });
    return fromResponse({ what, code, headers, body, now: clock.now() });
  };

  /** One attempt. `retryInMs`: the server refused the request, and it may be sent again after that time. */
  const attempt = async (
    request: RestRequest,
    { signal }: CallScope,
    place: Place,
  ): Promise<TransportResponse | { error: KubeError; retryInMs: number | undefined }> => {
    const response = await exchange(request, signal);
    const { code, headers } = response;
    place.answered(headers['x-kubernetes-pf-prioritylevel-uid']);
    if (code >= 200 && code < 300) return response;
    const error = await errorOf(request.what, response, signal);
    if (!isRefusal(error)) return { error, retryInMs: undefined };
    // Flow control answers in plain text. A Status comes from the storage of a kind, and says nothing about other kinds.
    const scope = headers['content-type']?.startsWith('application/json') === true ? 'kind' : 'priorityLevel';
    return { error, retryInMs: place.refused(scope, error.retryAfterMs) };
  };

  /** Rejects unless the status is 2xx. The caller releases the place. */
  const send = async (
    request: RestRequest,
    scope: CallScope,
  ): Promise<{ response: TransportResponse; place: Place }> => {
    const { what, method } = request;
    // `get pods`: with the user, this decides the priority level.
    const kind = { name: what.split(' ', 2).join(' '), method };
    let refusal = new KubeError(
      'timeout',
      `Cannot ${what}: not sent in time. This process limits its requests, or the server refuses them for now`,
    );
    for (;;) {
      scope.expireWith = refusal;
      const place = await flow.acquire(kind, scope.signal);
      scope.expireWith = undefined;
      // A transport may ignore the signal; its place must not be lost with it.
      scope.signal.addEventListener('abort', place.release, { once: true });
      const answer = await attempt(request, scope, place).catch((error: unknown) => {
        place.release();
        throw error;
      });
      if (!('error' in answer)) return { response: answer, place };
      place.release();
      if (answer.retryInMs === undefined || answer.retryInMs >= scope.remainingMs()) throw answer.error;
      refusal = answer.error;
    }
  };

  return {
    clock,
    deadlineMs,
    request: (request, { signal, deadlineMs: limit = deadlineMs } = {}, read = decodeText) =>
      withCallScope({ clock, deadlineMs: limit, signal, what: request.what }, async (scope) => {
        try {
          const { response, place } = await send(request, scope);
          const bytes = await collectBytes(response.body, maxResponseBytes).finally(place.release);
          return parse(request.what, read(bytes));
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
