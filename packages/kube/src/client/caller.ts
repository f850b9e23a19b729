import type { Clock } from '../clock/clock.ts';
import { unlessAborted, whileWanted } from '../errors/aborted.ts';
import { fromAnswer } from '../errors/from-status.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { collect } from '../transport/collect.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import type { CallOptions } from './client.ts';
import { inScope, openScope } from './scope.ts';

export interface ClientOptions {
  clock: Clock;
  /** The server remembers its first part, up to a slash, as the manager of the fields that we write. */
  userAgent?: string;
  /** 30 s unless told. */
  defaultDeadlineMs?: number;
}

interface Ask {
  /** For texts: `get pods default/a`. */
  what: string;
  method: TransportRequest['method'];
  path: string;
  body?: unknown;
  /** `application/json` unless told. */
  contentType?: string;
}

/** Requests to one API server: what the client and the subresources have in common. */
export interface Caller {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** The answer as JSON. Rejects unless it is 2xx. */
  ask(request: Ask, options?: CallOptions): Promise<unknown>;
  /** The answer as it comes. The deadline is for its beginning, and the signal for all of it. */
  stream(request: Ask, options?: CallOptions): AsyncIterable<Uint8Array>;
}

/** Of a list of everything, a page at a time; more than this is no answer of a Kubernetes API. */
const largestAnswer = 256 * 1024 * 1024;
const largestRefusal = 1024 * 1024;
const defaultDeadlineMs = 30_000;
const defaultUserAgent = 'tartan';

const encode = ({ what, body }: Ask): string => {
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

export const createCaller = (transport: Transport, options: ClientOptions): Caller => {
  const { clock, userAgent = defaultUserAgent, defaultDeadlineMs: deadlineMs = defaultDeadlineMs } = options;

  const send = async (request: Ask, signal: AbortSignal): Promise<TransportResponse> => {
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
    const text = await collect(response.body, largestRefusal).catch((error: unknown) => {
      // A refusal whose text does not arrive is still a refusal.
      if (signal.aborted || !isKubeError(error, 'malformed', 'unreachable')) throw error;
      return '';
    });
    throw fromAnswer({ what, code, headers, body: text, now: clock.now() });
  };

  return {
    clock,
    deadlineMs,
    ask: (request, { signal, deadlineMs: limit = deadlineMs } = {}) =>
      inScope({ clock, deadlineMs: limit, signal, what: request.what }, async (inner) => {
        try {
          const { body } = await send(request, inner);
          return parse(request.what, await collect(body, largestAnswer));
        } catch (error) {
          throw asKubeError(request.what, error);
        }
      }),
    stream: async function* (request, { signal, deadlineMs: limit = deadlineMs } = {}) {
      const scope = openScope({ clock, deadlineMs: limit, signal, what: request.what });
      try {
        scope.signal.throwIfAborted();
        const { body } = await unlessAborted(scope.signal, send(request, scope.signal));
        scope.liftDeadline();
        yield* whileWanted(scope.signal, body);
      } catch (error) {
        throw asKubeError(request.what, error);
      } finally {
        scope.close();
      }
    },
  };
};
