import { z } from 'zod';
import { ScalewayError } from '../scaleway-error.ts';

/** Failures that are not refusals. None keeps its cause: errors of `fetch`, of the HTTP parser and of `JSON.parse` quote the answer. */

export const noAnswer = (what: string, why: string): ScalewayError =>
  new ScalewayError(
    `No answer from Scaleway when asked to ${what}: ${why}. Whether it was done is unknown: look before asking again.`,
    { kind: 'no answer' },
  );

export const garbled = (what: string, why: string, status?: number): ScalewayError =>
  new ScalewayError(
    `Scaleway's answer to "${what}" cannot be used: ${why}. Check the API address, and whether the API has changed.`,
    { kind: 'garbled', ...(status === undefined ? {} : { status }) },
  );

export const heldBack = (what: string, retryAfter: number): ScalewayError =>
  new ScalewayError(
    `Scaleway was not asked to ${what}: it takes no requests for another ${Math.ceil(retryAfter / 1000)} s. Ask again then.`,
    { kind: 'rate limited', retryAfter },
  );

export const gone = (what: string): ScalewayError =>
  new ScalewayError(
    `Scaleway did not ${what}: it is not there (any more). (HTTP 403, and not in the list of its zone)`,
    {
      kind: 'not found',
      status: 403,
    },
  );

export const senseless = (what: string, why: string): ScalewayError =>
  new ScalewayError(`Scaleway was not asked to ${what}: ${why}.`, { kind: 'invalid' });

/** `fetch failed` says nothing; the code of what lies below does, and holds nothing but letters. */
const failure = z.object({ code: z.string().regex(/^[A-Z][A-Z0-9_]{2,60}$/) });
const wrapper = z.object({ cause: z.unknown() });
const several = z.object({ errors: z.array(z.unknown()).nonempty() });

export const codeOf = (error: unknown, depth = 0): string => {
  const own = failure.safeParse(error).data?.code;
  if (own !== undefined || depth > 4) return own ?? 'connection failed';
  const below = wrapper.safeParse(error).data?.cause ?? several.safeParse(error).data?.errors[0];
  return below === undefined ? 'connection failed' : codeOf(below, depth + 1);
};
