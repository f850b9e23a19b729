import type { LeaseRecord } from './lease.ts';

/** The last record that was seen, whether the Lease is still there, and when (monotonic) that record first looked like this. */
export interface LeaseObservation {
  record: LeaseRecord;
  present: boolean;
  changedAt: number;
}

export interface Snapshot {
  /** Undefined when no Lease has ever been seen. */
  observed: LeaseObservation | undefined;
  identity: string;
  /** What is assumed of a holder whose Lease does not say how long it lasts. */
  leaseMs: number;
  /** Monotonic. */
  now: number;
}

export type Decision =
  /** There is no Lease: make it, held by us. */
  | { kind: 'create' }
  /** Nobody holds it, or its holder has been silent for too long: write our name. */
  | { kind: 'takeOver' }
  /** It names us: write it again. Leading starts with that write, not with having read our name. */
  | { kind: 'renew' }
  /** Somebody else's, at least until then (monotonic). */
  | { kind: 'wait'; holder: string; until: number };

/** Whose the lease is, by our own clock alone: times that others wrote are never compared with ours. */
type HolderState = 'nobody' | 'self' | 'expired' | 'other';

/** A Lease that vanished was deleted by hand: its holder does not know yet, so the others wait as if it were there. */
const table: Readonly<Record<'present' | 'absent', Readonly<Record<HolderState, Decision['kind']>>>> = {
  present: { nobody: 'takeOver', self: 'renew', expired: 'takeOver', other: 'wait' },
  absent: { nobody: 'create', self: 'create', expired: 'create', other: 'wait' },
};

const expiryOf = ({ record, changedAt }: LeaseObservation, leaseMs: number): number =>
  changedAt + (record.durationMs ?? leaseMs);

export const decide = ({ observed, identity, leaseMs, now }: Snapshot): Decision => {
  if (observed === undefined) return { kind: 'create' };
  const { holder } = observed.record;
  const until = expiryOf(observed, leaseMs);
  const holding: HolderState =
    holder === '' ? 'nobody' : holder === identity ? 'self' : now >= until ? 'expired' : 'other';
  const kind = table[observed.present ? 'present' : 'absent'][holding];
  return kind === 'wait' ? { kind, holder, until } : { kind };
};

/** `now` is when the answer came, not when it was asked for: the later, the longer its holder is left alone. */
export const observeLease = (
  previous: LeaseObservation | undefined,
  record: LeaseRecord | undefined,
  now: number,
): LeaseObservation | undefined => {
  if (record === undefined) return previous && { ...previous, present: false };
  const same = previous?.record.text === record.text;
  return { record, present: true, changedAt: same ? previous.changedAt : now };
};
