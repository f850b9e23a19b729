/** Why a call to Scaleway failed. */
export type ScalewayErrorKind =
  /** It does not exist (any more). */
  | 'not found'
  /** The API key may not do this: `message` names the missing permission set. */
  | 'denied'
  /** The API key itself is refused. */
  | 'unauthorized'
  /** The state of the server forbids it: `state` has that state. */
  | 'transient state'
  /** Too many requests: wait `retryAfter` milliseconds. */
  | 'rate limited'
  /** Scaleway rejects the request as invalid. Retrying does not help. */
  | 'invalid'
  /** 5xx after all attempts. */
  | 'unavailable'
  /** No response, or no connection. The request may have had its effect. */
  | 'no answer'
  /** A response that does not match the API. */
  | 'garbled';

interface ScalewayErrorDetails {
  readonly kind: ScalewayErrorKind;
  readonly status?: number | undefined;
  readonly state?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** What happened, why, and what to do. Holds neither keys nor passwords. */
export class ScalewayError extends Error {
  override readonly name = 'ScalewayError';
  readonly kind: ScalewayErrorKind;
  readonly status: number | undefined;
  readonly state: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, details: ScalewayErrorDetails) {
    super(message);
    this.kind = details.kind;
    this.status = details.status;
    this.state = details.state;
    this.retryAfter = details.retryAfter;
  }
}

/** Failures that are not refusals. None keeps its cause: errors of `JSON.parse` quote the response. */

export const noAnswer = (what: string, why: string): ScalewayError =>
  new ScalewayError(
    `No answer from Scaleway when asked to ${what}: ${why}. Whether it was done is unknown: look before asking again.`,
    { kind: 'no answer' },
  );

export const garbled = (what: string, why: string, status?: number): ScalewayError =>
  new ScalewayError(
    `Scaleway's answer to "${what}" cannot be used: ${why}. Check the API address, and whether the API has changed.`,
    { kind: 'garbled', status },
  );

export const throttled = (what: string, retryAfter: number): ScalewayError =>
  new ScalewayError(
    `Scaleway was not asked to ${what}: it takes no requests for another ${Math.ceil(retryAfter / 1000)} s. Ask again then.`,
    { kind: 'rate limited', retryAfter },
  );

export const notFound = (what: string): ScalewayError =>
  new ScalewayError(
    `Scaleway did not ${what}: it is not there (any more). (HTTP 403, and not in the list of its zone)`,
    {
      kind: 'not found',
      status: 403,
    },
  );

export const invalidRequest = (what: string, why: string): ScalewayError =>
  new ScalewayError(`Scaleway was not asked to ${what}: ${why}.`, { kind: 'invalid' });
