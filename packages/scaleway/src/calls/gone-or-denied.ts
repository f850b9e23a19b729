import { gone } from '../errors/failures.ts';
import type { Server } from '../host-pool.ts';
import { ScalewayError } from '../scaleway-error.ts';

/**
 * A server that was deleted is at times answered for with 403, as if a right was missing (recorded by terraform-provider-scaleway in
 * 2025 and 2026). The list of the zone tells the two apart: whoever may read it and does not find the server there knows that it is
 * gone. In any doubt it stays `denied`, as only what is gone may be skipped (I-23).
 */
export const goneOrDenied = async (
  error: unknown,
  what: string,
  id: string,
  list: () => Promise<readonly Server[]>,
): Promise<unknown> => {
  if (!(error instanceof ScalewayError) || error.kind !== 'denied') return error;
  try {
    return (await list()).some((server) => server.id === id) ? error : gone(what);
  } catch (unreadable) {
    return unreadable instanceof ScalewayError ? error : unreadable;
  }
};
