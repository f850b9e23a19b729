import type { Logger } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { z } from 'zod';
import type { Allowance } from '../limits/allowance.ts';
import { readFigures } from '../limits/read-limit.ts';
import { moved, rateLimited, unavailable } from '../problems.ts';
import type { Problem } from '../runner-service.ts';
import { askOnce, type Connection, type Exchange, type Question } from './ask-once.ts';
import type { Operation } from './operations.ts';
import { saidIn } from './said.ts';

/** One request that went out, for metrics. */
export interface CallReport {
  readonly method: string;
  /** With the names of its parts: `/orgs/{org}/actions/runners/{runner_id}`. */
  readonly route: string;
  /** Undefined: no answer. */
  readonly status: number | undefined;
  readonly milliseconds: number;
  /** Calls that the installation has left of the hour, as far as the answer tells. */
  readonly remaining: number | undefined;
}

/** An answer of the API: neither a limit nor a failure. */
export interface Heard extends Exchange {
  readonly said: string;
}

/** How to ask, and who is told of it. */
export interface Line extends Connection {
  readonly allowance: Allowance;
  readonly onCall: (report: CallReport) => void;
  readonly log: Logger | undefined;
}

/** Asks once, unless a limit forbids it, and sorts out what concerns every call alike. */
export const exchange = async (
  operation: Operation,
  what: string,
  question: Omit<Question, 'route'>,
  { allowance, onCall, log, ...connection }: Line,
): Promise<Heard | Problem> => {
  const { clock } = connection;
  const { route } = operation;
  const closedUntil = allowance.closedUntil(operation);
  if (closedUntil !== undefined) return rateLimited(what, closedUntil);
  const [method = '', path = ''] = route.split(' ');
  const start = clock.monotonic();
  const report = (status: number | undefined, remaining: number | undefined): void =>
    onCall({ method, route: path, status, milliseconds: clock.monotonic() - start, remaining });
  let got: Exchange | { readonly why: string };
  try {
    got = await askOnce({ ...question, route }, connection);
  } catch (error) {
    report(undefined, undefined);
    throw error;
  }
  if ('why' in got) {
    report(undefined, undefined);
    return unavailable(what, got.why);
  }
  const { status, headers } = got;
  report(status, operation.isAsApp === true ? undefined : readFigures(headers, clock.now())?.remaining);
  const heard = { ...got, said: saidIn(got.body) };
  const retryAt = allowance.heard(operation, heard);
  if (retryAt !== undefined) {
    log?.warn('GitHub asks to wait', { route, status, until: timestamp(retryAt) });
    return rateLimited(what, retryAt);
  }
  if (status >= 500) return unavailable(what, `it has a failure of its own, HTTP ${status}`);
  if (status >= 300 && status < 400 && status !== 304) return moved(what);
  return heard;
};

/** The body as what it should be; nothing else of it goes further. */
export const readAnswer = <T>(
  answer: z.ZodType<T>,
  body: unknown,
  what: string,
): { readonly kind: 'ok'; readonly value: T } | Problem => {
  const result = answer.safeParse(body);
  if (result.success) return { kind: 'ok', value: result.data };
  // Where it is wrong, never what stands there.
  const path = result.error.issues[0]?.path.map(String).join('.') ?? '';
  return unavailable(what, `its answer makes no sense${path === '' ? '' : ` at ${path}`}`);
};
