import type { LeaseRecord } from './lease.ts';

/** The last record read, whether the Lease still exists, and when (monotonic) we first saw this record. */
export interface LeaseObservation {
  record: LeaseRecord;
  present: boolean;
  changedAt: number;
}

export interface Snapshot {
  /** Undefined if no Lease was ever seen. */
  observed: LeaseObservation | undefined;
  identity: string;
  /** Assumed for a Lease without a duration. */
  leaseMs: number;
  /** Monotonic. */
  now: number;
}

export type Decision =
  /** There is no Lease: create it with us as holder. */
  | { kind: 'create' }
  /** The Lease has no holder, or it expired: write our identity. */
  | { kind: 'takeOver' }
  /** We are the holder: renew it. Leadership starts with that write, not with having read our identity. */
  | { kind: 'renew' }
  /** Another holder's, at least until then (monotonic). */
  | { kind: 'wait'; holder: string; until: number };

/** The holder, judged by our own clock alone: timestamps of other processes are never compared with ours. */
type HolderState = 'none' | 'self' | 'expired' | 'other';

/** A missing Lease was deleted by hand. Its holder does not know yet, so the other candidates wait as if it still existed. */
const table: Readonly<Record<'present' | 'absent', Readonly<Record<HolderState, Decision['kind']>>>> = {
  present: { none: 'takeOver', self: 'renew', expired: 'takeOver', other: 'wait' },
  absent: { none: 'create', self: 'create', expired: 'create', other: 'wait' },
};

const expiryOf = ({ record, changedAt }: LeaseObservation, leaseMs: number): number =>
  changedAt + (record.durationMs ?? leaseMs);

export const decide = ({ observed, identity, leaseMs, now }: Snapshot): Decision => {
  if (observed === undefined) return { kind: 'create' };
  const { holder } = observed.record;
  const until = expiryOf(observed, leaseMs);
  const holding: HolderState =
    holder === '' ? 'none' : holder === identity ? 'self' : now >= until ? 'expired' : 'other';
  const kind = table[observed.present ? 'present' : 'absent'][holding];
  return kind === 'wait' ? { kind, holder, until } : { kind };
};

/** `now` is when the response arrived, not when the request was sent: the later, the longer we wait for the holder. */
export const observeLease = (
  previous: LeaseObservation | undefined,
  record: LeaseRecord | undefined,
  now: number,
): LeaseObservation | undefined => {
  if (record === undefined) return previous && { ...previous, present: false };
  const same = previous?.record.text === record.text;
  return { record, present: true, changedAt: same ? previous.changedAt : now };
};
