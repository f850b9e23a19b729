import type { RefusalBody } from './refusal-body.ts';

/** A reset that is further away than this is a mistake of somebody's clock or unit. */
const furthest = 3_600_000;
const unlessTold = 1000;

/** Milliseconds until Scaleway takes requests again: in the body as the SDK knows it, else in the `Retry-After` header. */
export const resetIn = (
  body: Pick<RefusalBody, 'reset_seconds' | 'reset_at'>,
  retryAfter: string | null,
  now: number,
): number => {
  const told = [
    body.reset_seconds === undefined ? Number.NaN : body.reset_seconds * 1000,
    Date.parse(body.reset_at ?? '') - now,
    /^\s*\d+\s*$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : Date.parse(retryAfter ?? '') - now,
  ].find((milliseconds) => !Number.isNaN(milliseconds));
  return Math.min(furthest, Math.max(0, told ?? unlessTold));
};
