/** Why a call failed, as far as a caller can act on it. */
export type KubeErrorReason =
  /** 404: no such object, or no such kind on this server. */
  | 'notFound'
  /** 409: the object has changed since it was read, or a precondition does not hold. */
  | 'conflict'
  /** 409: the name is taken. */
  | 'alreadyExists'
  /** 422: the server refuses the object; `causes` say which fields. */
  | 'invalid'
  /** 400, 405, 406, 413, 415: the request itself makes no sense to the server. */
  | 'badRequest'
  /** 403. */
  | 'forbidden'
  /** 401. */
  | 'unauthorized'
  /** 429: try again after `retryAfterMs`. */
  | 'tooManyRequests'
  /** 410: the resource version or the continue token is too old. */
  | 'expired'
  /** 504, or no answer before our own deadline. */
  | 'timeout'
  /** No connection, or one that broke before the answer was complete. The request may have been carried out. */
  | 'unreachable'
  /** 5xx that says nothing more. */
  | 'serverError'
  /** The answer is not what the protocol promises. */
  | 'malformed'
  /** The caller's own signal fired. */
  | 'aborted';

export interface Cause {
  reason?: string | undefined;
  message?: string | undefined;
  field?: string | undefined;
}

interface KubeErrorDetails {
  /** HTTP code; absent when there was no answer. */
  code?: number | undefined;
  causes?: readonly Cause[];
  /** How long the server asks to wait. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The one error of this package. Its text never holds a header, a token or a body that was sent. */
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

/** The text of whatever was thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The answer of a call, or undefined when the server says `notFound`. */
export const ignoreNotFound = async <T>(call: Promise<T>): Promise<T | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
