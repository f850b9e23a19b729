/** Why a call failed, by what a caller can do about it. */
export type KubeErrorReason =
  /** 404: no such object, or no such kind on this server. */
  | 'notFound'
  /** 409: the object has changed since it was read, or a precondition does not hold. */
  | 'conflict'
  /** 409: the name is taken. */
  | 'alreadyExists'
  /** 422: the server rejects the object; `causes` name the fields. */
  | 'invalid'
  /** 400, 405, 406, 413, 415: the server does not accept the request itself. */
  | 'badRequest'
  /** 403. */
  | 'forbidden'
  /** 401. */
  | 'unauthorized'
  /** 429: try again after `retryAfterMs`. */
  | 'tooManyRequests'
  /** 410: the resource version or the continue token is too old. */
  | 'expired'
  /** 504, or no response before our own deadline. */
  | 'timeout'
  /** No connection, or it broke before the response was complete. The server may have executed the request. */
  | 'unreachable'
  /** Any other 5xx. */
  | 'serverError'
  /** The response violates the protocol. */
  | 'malformed'
  /** The caller's own signal fired. */
  | 'aborted';

export interface Cause {
  reason?: string | undefined;
  message?: string | undefined;
  field?: string | undefined;
}

interface KubeErrorDetails {
  /** HTTP code; absent without a response. */
  code?: number | undefined;
  causes?: readonly Cause[];
  /** The server's requested delay. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The only error of this package. Its message never contains a header, a token or a request body. */
export class KubeError extends Error {
  readonly reason: KubeErrorReason;
  readonly code: number | undefined;
  readonly causes: readonly Cause[];
  readonly retryAfterMs: number | undefined;
  constructor(reason: KubeErrorReason, message: string, details: KubeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'KubeError';
    this.reason = reason;
    this.code = details.code;
    this.causes = details.causes ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}

export const isKubeError = (error: unknown, ...reasons: readonly KubeErrorReason[]): error is KubeError =>
  error instanceof KubeError && (reasons.length === 0 || reasons.includes(error.reason));

/** The message of any thrown value. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const ignoring =
  (...reasons: readonly KubeErrorReason[]) =>
  async <T>(call: Promise<T>): Promise<T | undefined> => {
    try {
      return await call;
    } catch (error) {
      if (isKubeError(error, ...reasons)) return undefined;
      throw error;
    }
  };

/** The result of a call, or undefined for `notFound`. */
export const ignoreNotFound = ignoring('notFound');

/** The result of a write, or undefined if the object has changed since it was read, or is gone: read it again. */
export const ignoreStale = ignoring('conflict', 'notFound');
