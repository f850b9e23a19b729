import type { CallApi } from '../http/client.ts';
import type { runnerOperations } from '../http/operations.ts';
import type { Owner } from '../runner-service.ts';

/** What every call needs. */
export interface CallContext {
  readonly callApi: CallApi;
  readonly owner: Owner;
  /** `acme` or `acme/app`: for messages. */
  readonly ownerName: string;
  readonly operations: ReturnType<typeof runnerOperations>;
}
