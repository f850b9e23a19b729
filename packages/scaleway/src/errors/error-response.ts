import { z } from 'zod';
import { parseJSON } from '../http/response.ts';
import { type OperationName, operations } from '../operations.ts';
import type { Redaction } from './redaction.ts';
import { ScalewayError, type ScalewayErrorKind } from './scaleway-error.ts';

/**
 * The meaning of a refusal, by the type in its body, else by its status. The type comes first: Scaleway also refuses with 403 for a quota,
 * which is no missing permission, and a transient state has more than one status.
 */
export const errorKind = (status: number, type: string | undefined): ScalewayErrorKind => {
  if (status >= 500 && status <= 599) return 'unavailable';
  if (status < 400 || status > 599) return 'garbled';
  return (type === undefined ? undefined : kindOfType.get(type)) ?? kindOfStatus.get(status) ?? 'invalid';
};

const kindOfType: ReadonlyMap<string, ScalewayErrorKind> = new Map([
  ['denied_authentication', 'unauthorized'],
  ['permissions_denied', 'denied'],
  ['not_found', 'not found'],
  ['unknown_resource', 'not found'],
  ['expired', 'not found'],
  ['transient_state', 'transient state'],
  ['locked', 'transient state'],
  ['too_many_requests', 'rate limited'],
  ['quotas_exceeded', 'invalid'],
  ['out_of_stock', 'invalid'],
  ['invalid_arguments', 'invalid'],
  ['invalid_request_error', 'invalid'],
  ['precondition_failed', 'invalid'],
  ['already_exists', 'invalid'],
]);

const kindOfStatus: ReadonlyMap<number, ScalewayErrorKind> = new Map([
  [401, 'unauthorized'],
  [403, 'denied'],
  [404, 'not found'],
  [408, 'unavailable'],
  [410, 'not found'],
  [423, 'transient state'],
  [429, 'rate limited'],
]);

const optionalText = z.string().optional().catch(undefined);

const detail = z
  .object({
    action: optionalText,
    resource: optionalText,
    argument_name: optionalText,
    reason: optionalText,
    help_message: optionalText,
  })
  .catch({});

/** The body of a refusal, as far as we read it. Everything may be missing: the status alone is enough. */
const errorBody = z
  .object({
    type: optionalText,
    message: optionalText,
    help_message: optionalText,
    current_state: optionalText,
    reset_seconds: z.number().nonnegative().optional().catch(undefined),
    reset_at: optionalText,
    details: z.array(detail).optional().catch(undefined),
  })
  .catch({});

type ErrorBody = z.output<typeof errorBody>;

/** An HTML page, a truncated body or an empty one counts as an empty error body. */
const parseErrorBody = (body: unknown): ErrorBody => errorBody.parse(body);

/** Long enough for Scaleway's messages, short enough for a condition. */
const maxMessageLength = 300;

/** The reason in Scaleway's words, on one line. */
const messageOf = (body: ErrorBody): string => {
  const details = (body.details ?? []).map(({ action, resource, argument_name, reason, help_message }) =>
    [action, argument_name, reason, resource, help_message]
      .filter((part) => part !== undefined && part !== '')
      .join(' '),
  );
  const parts = [body.message ?? '', body.help_message ?? '', ...details].filter((part) => part !== '');
  return parts
    .join('; ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
};

/** Applied after redaction, because a truncated secret would not be recognised. */
const truncate = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;

/** A later reset is a mistake of a clock or a unit. */
const maxResetMs = 3_600_000;
const defaultResetMs = 1000;

/** Milliseconds until Scaleway accepts requests again: from the body, as the SDK reads it, else from the `Retry-After` header. */
export const retryAfterMs = (
  body: Pick<ErrorBody, 'reset_seconds' | 'reset_at'>,
  retryAfter: string | null,
  now: number,
): number => {
  const stated = [
    body.reset_seconds === undefined ? Number.NaN : body.reset_seconds * 1000,
    Date.parse(body.reset_at ?? '') - now,
    /^\s*\d+\s*$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : Date.parse(retryAfter ?? '') - now,
  ].find((milliseconds) => !Number.isNaN(milliseconds));
  return Math.min(maxResetMs, Math.max(0, stated ?? defaultResetMs));
};

/** An answer that is no success. */
export interface HTTPResponse {
  readonly status: number;
  /** `undefined`: too long to be read. */
  readonly text: string | undefined;
  /** The header of that name. */
  readonly retryAfter: string | null;
}

interface ErrorContext {
  /** `rename server 1234` */
  readonly what: string;
  readonly operation: OperationName;
  readonly now: number;
  readonly redaction: Redaction;
}

/** Why Scaleway refused, and what to do. Keeps nothing of the response but the message: it may quote our request. */
export const errorFromResponse = (
  response: HTTPResponse,
  { what, operation, now, redaction }: ErrorContext,
): ScalewayError => {
  const json = parseJSON(response.text ?? '');
  redaction.addFrom(json);
  const body = parseErrorBody(json);
  const kind = errorKind(response.status, body.type);
  const message = truncate(redaction.redact(messageOf(body)));
  const state = kind === 'transient state' ? stateIn(body, redaction) : undefined;
  const retryAfter = kind === 'rate limited' ? retryAfterMs(body, response.retryAfter, now) : undefined;
  const reason = message === '' ? `HTTP ${response.status}` : `HTTP ${response.status}: ${message}`;
  const meaning = explanations[kind]({ operation, state, retryAfter });
  return new ScalewayError(`Scaleway did not ${what}: ${meaning} (${reason})`, {
    kind,
    status: response.status,
    state,
    retryAfter,
  });
};

/** Only `reinstalling` means that a wipe is in progress, so an unknown state is never guessed. */
const stateIn = (body: ErrorBody, redaction: Redaction): string => {
  if (body.current_state !== undefined) return truncate(redaction.redact(body.current_state));
  return body.type === 'locked' ? 'locked' : 'unknown_status';
};

interface ExplanationFacts {
  readonly operation: OperationName;
  readonly state: string | undefined;
  readonly retryAfter: number | undefined;
}

const explanations: Readonly<Record<ScalewayErrorKind, (facts: ExplanationFacts) => string>> = {
  'not found': () => 'it is not there (any more).',
  denied: ({ operation }) =>
    `the API key lacks the permission set ${operations[operation].permissionSet} in this project. Add it to the IAM policy of the key.`,
  unauthorized: () =>
    'the API key is refused. Check that access key and secret key belong together and have not expired.',
  'transient state': ({ state }) => `its state is ${state}. Ask again once that has passed.`,
  'rate limited': ({ retryAfter }) => `too many requests. Ask again in ${Math.ceil((retryAfter ?? 0) / 1000)} s.`,
  invalid: () => 'the request was refused. Asking again will not help.',
  unavailable: () => 'it has a failure of its own. Ask again later.',
  'no answer': () => 'there was no answer.',
  garbled: () => 'the answer is none that its API knows. Check the API address.',
};
