import { withCallScope } from '../client/call-scope.ts';
import type { CallOptions, Client } from '../client/client.ts';
import type { Clock } from '../clock/index.ts';
import { ignoreNotFound, isKubeError, KubeError } from '../errors/kube-error.ts';
import { keyOf, type Live, type ObjectName } from '../objects/object.ts';
import { decide, type Decision, type LeaseObservation, observeLease } from './decide.ts';
import { callDeadlineMs, type ElectionDurations } from './durations.ts';
import { type Instant, instant } from './gate.ts';
import {
  acquiredLease,
  type Lease,
  type LeaseRecord,
  leases,
  newLease,
  recordOf,
  releasedLease,
  renewedLease,
  renewTimeOf,
} from './lease.ts';

export type LeaseClient = Pick<Client, 'get' | 'create' | 'update'>;

/** Result of one attempt. After `failed`, a write may still have succeeded. */
export type LeaseAttempt =
  /** We hold the lease, by a write that was sent at that moment. */
  | { kind: 'held'; sent: Instant }
  /** Another holder's, at least for that long; 0 when it is free. */
  | { kind: 'heldByOther'; holder: string; forMs: number }
  | { kind: 'failed'; error: unknown };

/**
 * One candidate's access to the Lease. The caller decides when to try.
 * Guarantees: never rejects; every write is a create or uses optimistic locking; every call has a deadline.
 * Assumptions: one attempt at a time, and no other process has the same identity.
 */
export interface LeaseCandidate {
  /** Reads, decides, and writes if allowed. `signal` aborts the read; a write is always awaited. */
  acquire(signal: AbortSignal): Promise<LeaseAttempt>;
  /** Rewrites the last written Lease without reading it; reads first only after a conflict. */
  renew(withinMs: number): Promise<LeaseAttempt>;
  /** Releases the lease if we hold it; true on success. */
  release(): Promise<boolean>;
  /** False only if we know that we do not hold the lease. */
  readonly mayHold: boolean;
  /** The lease transitions, as far as known. */
  readonly transitions: number | undefined;
}

interface LeaseCandidateOptions {
  client: LeaseClient;
  clock: Clock;
  lease: ObjectName;
  identity: string;
  durations: ElectionDurations;
}

export const createLeaseCandidate = (options: LeaseCandidateOptions): LeaseCandidate => {
  const { client, clock, lease, identity, durations } = options;
  const callMs = callDeadlineMs(durations);
  let known: Live<Lease> | undefined;
  let observed: LeaseObservation | undefined;
  let mayHold = false;
  let writes = 0;

  /** Limits an API call by our own clock, even if the client ignores its deadline. The server may still execute the request later. */
  const withDeadline = <T>(
    deadlineMs: number,
    call: (options: CallOptions) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    withCallScope({ clock, deadlineMs, signal, what: `use the lease ${keyOf(lease)}` }, (scope) =>
      call({ signal: scope.signal, deadlineMs }),
    );

  const learn = (object: Live<Lease> | undefined): LeaseRecord | undefined => {
    known = object;
    const record = object && recordOf(object);
    observed = observeLease(observed, record, clock.monotonic());
    return record;
  };

  const holder = (): string | undefined => known && recordOf(known).holder;

  const read = async (withinMs: number, signal?: AbortSignal): Promise<void> => {
    const call = withDeadline(withinMs, (options) => client.get(leases, lease, options), signal);
    mayHold = learn(await ignoreNotFound(call))?.holder === identity;
  };

  const verdict = (): Decision => decide({ observed, identity, leaseMs: durations.leaseMs, now: clock.monotonic() });

  const nextTime = (): string => renewTimeOf(clock.now(), writes++);

  /** Takes the timestamp before sending anything. */
  const write = async (kind: 'create' | 'takeOver' | 'renew', withinMs: number): Promise<LeaseAttempt> => {
    const sent = instant(clock);
    const writing = { identity, leaseMs: durations.leaseMs, time: nextTime() };
    mayHold = true;
    const answer = await withDeadline(withinMs, (call) => {
      if (kind === 'create' || known === undefined) return client.create(leases, newLease(lease, writing), call);
      const next = kind === 'renew' ? renewedLease : acquiredLease;
      return client.update(leases, next(known, writing), call);
    });
    if (learn(answer)?.holder !== identity) {
      throw new KubeError('malformed', 'The API server accepted our lease, but its answer names another holder.');
    }
    return { kind: 'held', sent };
  };

  const failedUnlessDone = async (attempt: () => Promise<LeaseAttempt>): Promise<LeaseAttempt> => {
    try {
      return await attempt();
    } catch (error) {
      return { kind: 'failed', error };
    }
  };

  return {
    get mayHold() {
      return mayHold;
    },
    get transitions() {
      return known && recordOf(known).transitions;
    },
    acquire: (signal) =>
      failedUnlessDone(async () => {
        await read(callMs, signal);
        const decision = verdict();
        if (decision.kind !== 'wait') return write(decision.kind, callMs);
        return { kind: 'heldByOther', holder: decision.holder, forMs: decision.until - clock.monotonic() };
      }),
    renew: (withinMs) =>
      failedUnlessDone(async () => {
        const began = clock.monotonic();
        const rest = (): number => Math.min(callMs, withinMs - (clock.monotonic() - began));
        try {
          if (holder() === identity) return await write('renew', rest());
        } catch (error) {
          if (!isKubeError(error, 'conflict', 'notFound')) throw error;
        }
        await read(rest());
        const decision = verdict();
        // A leader whose identity was removed from the lease has lost it, even if it could acquire it again at once.
        if (decision.kind === 'takeOver') return { kind: 'heldByOther', holder: holder() ?? '', forMs: 0 };
        if (decision.kind === 'wait') {
          return { kind: 'heldByOther', holder: decision.holder, forMs: decision.until - clock.monotonic() };
        }
        return write(decision.kind, rest());
      }),
    release: async () => {
      // Twice: a renewal that timed out may still arrive between our read and our write.
      for (let attempt = 0; attempt < 2; attempt++) {
        try {
          await read(callMs);
          if (!mayHold || known === undefined) return false;
          const next = releasedLease(known, nextTime());
          learn(await withDeadline(callMs, (call) => client.update(leases, next, call)));
          mayHold = false;
          return true;
        } catch (error) {
          if (!isKubeError(error, 'conflict')) return false;
        }
      }
      return false;
    },
  };
};
