import { type OperationName, operations } from '../operations.ts';
import { ScalewayError, type ScalewayErrorKind } from '../scaleway-error.ts';
import { errorKind } from './error-kind.ts';
import { parseJSON } from '../wire/parse-json.ts';
import type { Redaction } from './redaction.ts';
import { type RefusalBody, readRefusal, shortened, textOf } from './refusal-body.ts';
import { resetIn } from './reset-time.ts';

/** An answer that is no success. */
export interface Refusal {
  readonly status: number;
  /** `undefined`: too long to be read. */
  readonly text: string | undefined;
  /** The header of that name. */
  readonly retryAfter: string | null;
}

export interface RefusalContext {
  /** `rename server 1234` */
  readonly what: string;
  readonly operation: OperationName;
  readonly now: number;
  readonly redaction: Redaction;
}

/** Why Scaleway refused, and what to do. Nothing of the answer is kept but its reason in words: it may quote what we sent. */
export const refused = (refusal: Refusal, { what, operation, now, redaction }: RefusalContext): ScalewayError => {
  const json = parseJSON(refusal.text ?? '');
  redaction.rememberFrom(json);
  const body = readRefusal(json);
  const kind = errorKind(refusal.status, body.type);
  const said = shortened(redaction.clean(textOf(body)));
  const state = kind === 'transient state' ? stateIn(body, redaction) : undefined;
  const retryAfter = kind === 'rate limited' ? resetIn(body, refusal.retryAfter, now) : undefined;
  const reason = said === '' ? `HTTP ${refusal.status}` : `HTTP ${refusal.status}: ${said}`;
  const meaning = explanations[kind]({ operation, state, retryAfter });
  return new ScalewayError(`Scaleway did not ${what}: ${meaning} (${reason})`, {
    kind,
    status: refusal.status,
    ...(state === undefined ? {} : { state }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
};

/** Only `reinstalling` means that a wipe is under way (G-02), so a state that is not told is nothing to guess. */
const stateIn = (body: RefusalBody, redaction: Redaction): string => {
  if (body.current_state !== undefined) return shortened(redaction.clean(body.current_state));
  return body.type === 'locked' ? 'locked' : 'unknown_status';
};

interface Facts {
  readonly operation: OperationName;
  readonly state: string | undefined;
  readonly retryAfter: number | undefined;
}

const explanations: Readonly<Record<ScalewayErrorKind, (facts: Facts) => string>> = {
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
