import { annotations, type HostState, type MacHost } from '@tartan/api';
import { isPoolName } from './server-name.ts';
import type { Snapshot } from './snapshot.ts';
import { wipeOf } from './wipe.ts';

/**
 * Where a Mac is between pool and machine. Undefined: nobody has seen it yet.
 *
 *   | spec        | else                                                      | state                            |
 *   |-------------|-----------------------------------------------------------|----------------------------------|
 *   | any         | a person has abandoned it                                 | abandoned                        |
 *   | release     | it has failed to be wiped time and again                  | quarantined                      |
 *   | release     |                                                           | releasing                        |
 *   | consumerRef | its holder is gone, or has another Mac                    | stranded                         |
 *   | consumerRef |                                                           | held                             |
 *   | neither     | not seen                                                  | as it was                        |
 *   | neither     | pool name                                                 | pool, or quarantined for a while |
 *   | neither     | reserved by a machine                                     | held: about to be taken          |
 *   | neither     | any other name, also that of a machine                    | stranded                         |
 */
export const stateOf = (snapshot: Snapshot): HostState | undefined => {
  const { spec, status, server, holder, claimants, poolPrefixes, now } = snapshot;
  if (snapshot.abandoned !== undefined) return 'abandoned';
  if (spec.release) return isWipeStuck(snapshot) ? 'quarantined' : 'releasing';
  if (spec.consumerRef) return holder.kind === 'gone' || holder.kind === 'elsewhere' ? 'stranded' : 'held';
  if (server.kind !== 'seen') return status.state;
  const { name } = server.server;
  if ([...poolPrefixes].some((prefix) => isPoolName(name, prefix)))
    return quarantineLeftMs(status, now) > 0 ? 'quarantined' : 'pool';
  return claimants.some(({ by }) => by === 'serverID') ? 'held' : 'stranded';
};

/** Its holder may work on it. One that was made ready has been there for longer than any claim takes. */
export const isClaimConfirmed = ({ spec, status, holder }: Snapshot): boolean =>
  (holder.kind === 'alive' && holder.provisioned) ||
  (status.claim?.settledAt !== undefined && status.claim.uid === spec.consumerRef?.uid);

/** Said once (`quarantine` of decide.ts), it stays so until it was wiped: an attempt that is under way proves nothing. */
export const isWipeStuck = ({ spec, status }: Pick<Snapshot, 'spec' | 'status'>): boolean =>
  spec.release !== undefined && wipeOf(spec.release, status)?.stuckAt !== undefined;

export const quarantineLeftMs = ({ quarantine }: Snapshot['status'], now: number): number =>
  quarantine === undefined ? 0 : Date.parse(quarantine.until) - now;

/** Why a person has told us to leave the Mac alone. Undefined: nobody has. Any value of the annotation counts, also an empty one. */
export const abandonReason = ({ metadata }: Pick<MacHost, 'metadata'>): string | undefined => {
  const reason = metadata?.annotations?.[annotations.abandon];
  return reason === undefined ? undefined : reason.trim() || 'no reason was given';
};
