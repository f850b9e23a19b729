import { isRecord, type JsonRecord, listIn, numberIn, parseJson, printable, textIn } from '../json.ts';
import { type Cause, KubeError, type KubeErrorReason } from './kube-error.ts';

/**
 * Maps an error response to a reason. The HTTP code decides and the body only refines it, since any proxy may have written the
 * body. A 404 is `notFound` only when an API server can have sent it: controllers clean up after deleted objects, and a load
 * balancer without a backend must not trigger that.
 */

const byCode: Readonly<Record<number, KubeErrorReason>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  408: 'timeout',
  409: 'conflict',
  410: 'expired',
  422: 'invalid',
  429: 'tooManyRequests',
  504: 'timeout',
};

/** Codes with two meanings, told apart by the Status reason. */
const refined: Readonly<Record<string, KubeErrorReason>> = {
  '409 AlreadyExists': 'alreadyExists',
  '500 ServerTimeout': 'timeout',
};

/** The code for a Status without one: inside a watch it is optional. */
const codeOfReason: Readonly<Record<string, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

const reasonOf = (code: number, statusReason: string): KubeErrorReason => {
  if (code < 400) return 'malformed';
  return refined[`${code} ${statusReason}`] ?? byCode[code] ?? (code < 500 ? 'badRequest' : 'serverError');
};

const maxMessageLength = 4096;
const maxExcerptLength = 200;
const maxCauses = 100;
/** Upper limit for a server's Retry-After: a wait of a year would look like a hang. */
const maxRetryAfterMs = 10 * 60_000;

const causesOf = (status: JsonRecord): Cause[] =>
  listIn(status['details'], 'causes')
    .slice(0, maxCauses)
    .filter(isRecord)
    .map((cause) => ({
      reason: textIn(cause, 'reason'),
      message: textIn(cause, 'message'),
      field: textIn(cause, 'field'),
    }));

const limited = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined || !(milliseconds >= 0) ? undefined : Math.min(milliseconds, maxRetryAfterMs);

/** `Retry-After`: seconds, or a date. */
const retryAfterHeader = (header: string | undefined, now: number | undefined): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return limited(Number(header) * 1000);
  const date = Date.parse(header);
  return now === undefined || Number.isNaN(date) ? undefined : limited(Math.max(0, date - now));
};

const isStatus = (value: unknown): value is JsonRecord => isRecord(value) && value['kind'] === 'Status';

export interface ErrorResponse {
  /** The attempted request, for the message: `get pods default/a`. */
  what: string;
  code: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Milliseconds since the epoch, to interpret a date in `Retry-After`; without it, only seconds are supported. */
  now?: number;
}

/** The error for a response other than 2xx. */
export const fromResponse = ({ what, code, headers, body, now }: ErrorResponse): KubeError => {
  const status = parseJson(body);
  const retryAfterMs = retryAfterHeader(headers['retry-after'], now);
  if (isStatus(status)) return statusError(what, code, status, retryAfterMs);
  const excerpt = printable(body, maxExcerptLength);
  // An API server's response for a group or version that it does not serve.
  const pageNotFound = code === 404 && excerpt === '404 page not found';
  const reason = code === 404 && !pageNotFound ? 'malformed' : reasonOf(code, '');
  const said = pageNotFound
    ? 'the server does not serve this kind (is its CustomResourceDefinition installed?)'
    : `HTTP ${code}${excerpt === '' ? '' : `: ${excerpt}`}`;
  const hint =
    reason === 'malformed'
      ? '. This is not how a Kubernetes API answers: check the server address, and what stands between'
      : '';
  return new KubeError(reason, `Cannot ${what}: ${said}${hint}`, { code, retryAfterMs });
};

/** The Status of an ERROR event in a watch, which has no HTTP code but its own. */
export const fromStatus = (what: string, status: unknown): KubeError => {
  if (!isStatus(status)) {
    return new KubeError('malformed', `Cannot ${what}: the server reports an error that is not a Status`);
  }
  const code = numberIn(status, 'code') ?? codeOfReason[textIn(status, 'reason') ?? ''] ?? 500;
  return statusError(what, code, status);
};

const statusError = (what: string, code: number, status: JsonRecord, retryAfterHeaderMs?: number): KubeError => {
  const statusReason = textIn(status, 'reason') ?? '';
  const message = printable(textIn(status, 'message') ?? '', maxMessageLength) || statusReason || `HTTP ${code}`;
  const seconds = numberIn(status['details'], 'retryAfterSeconds');
  return new KubeError(reasonOf(code, statusReason), `Cannot ${what}: ${message}`, {
    code,
    causes: causesOf(status),
    retryAfterMs: limited(seconds === undefined ? undefined : seconds * 1000) ?? retryAfterHeaderMs,
  });
};
