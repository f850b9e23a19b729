import type { ApiResult, CallApi } from '../http/client.ts';
import type { runnerOperations } from '../http/operations.ts';
import { isProblem, ownerNotVisible, refusedRequest } from '../problems.ts';
import type { Owner, Problem } from '../runner-service.ts';

/** What every call is made of. */
export interface CallContext {
  readonly callApi: CallApi;
  readonly owner: Owner;
  /** `acme` or `acme/app`: for messages. */
  readonly ownerName: string;
  /** The owner in paths. */
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly operations: ReturnType<typeof runnerOperations>;
}

/** What is wrong, when a call knows no other meaning of it. */
export const problemFrom = (
  answered: Exclude<ApiResult<unknown>, { readonly kind: 'ok' }>,
  what: string,
  ownerName: string,
): Problem => {
  if (isProblem(answered)) return answered;
  return answered.status === 404
    ? ownerNotVisible(what, ownerName)
    : refusedRequest(what, answered.status, answered.errorMessage);
};
