import type { z } from 'zod';
import { senseless } from '../errors/failures.ts';
import type { CallOptions } from '../host-pool.ts';
import type { APIs } from '../http/sdk-call.ts';
import type { OperationName } from '../operations.ts';

/** Asks Scaleway through its SDK. `what` completes "Scaleway did not …". */
type Ask = <T>(
  operation: OperationName,
  what: string,
  answer: z.ZodType,
  options: CallOptions,
  ask: (apis: APIs) => Promise<T>,
) => Promise<T>;

export interface Caller {
  readonly ask: Ask;
  readonly projectID: string;
  /** From now on no error tells this password. */
  readonly hide: (password: string) => void;
}

/** The SDK puts these into the path as they are: a slash in one would ask for something else. */
export const checkPath = (what: string, ...parts: readonly string[]): void => {
  const wrong = parts.find((part) => !/^[\w-]+$/.test(part));
  if (wrong !== undefined) throw senseless(what, `${JSON.stringify(wrong)} is no zone and no id`);
};
