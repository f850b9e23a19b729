import type { Ask, Answered } from '../http/ask.ts';
import { isProblem, refusedRequest, unreachable } from '../problems.ts';
import type { Owner, Problem } from '../runner-service.ts';
import type { runnerOperations } from '../http/operations.ts';

/** What every call is made of. */
export interface Caller {
  readonly ask: Ask;
  readonly owner: Owner;
  /** `acme` or `acme/app`: for messages. */
  readonly ownerName: string;
  /** The owner in paths. */
  readonly where: Readonly<Record<string, string>>;
  readonly operations: ReturnType<typeof runnerOperations>;
}

/** What is wrong, when a call knows no other meaning of it. */
export const problemIn = (
  answered: Exclude<Answered<unknown>, { readonly kind: 'ok' }>,
  what: string,
  ownerName: string,
): Problem => {
  if (isProblem(answered)) return answered;
  return answered.status === 404 ? unreachable(what, ownerName) : refusedRequest(what, answered.status, answered.said);
};
