import type { CallOptions, Client } from '../client/client.ts';
import type { Clock } from '../clock/index.ts';
import { withCallScope } from '../client/rest-client.ts';
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

/** What one try came to. `failed` says nothing about whether a write was carried out. */
export type LeaseAttempt =
  /** The lease names us since a write that was sent at that moment. */
  | { kind: 'held'; sent: Instant }
  /** Somebody else's, at least for that long; for no time at all when it is free. */
  | { kind: 'heldByOther'; holder: string; forMs: number }
  | { kind: 'failed'; error: unknown };

/**
 * One candidate's dealings with the Lease, one try at a time; when to try is the caller's business.
 * Guarantees: never rejects; every write is a create or a compare-and-swap on the resource version; every call has a deadline.
 * Assumptions: one try at a time, and no other process has the same identity.
 */
export interface LeaseCandidate {
  /** Read, decide, and write if it is ours to write. `signal` ends the reading; a write is always waited for. */
  acquire(signal: AbortSignal): Promise<LeaseAttempt>;
  /** Write right away what was written last; look first only if somebody else has written meanwhile. */
  renew(withinMs: number): Promise<LeaseAttempt>;
  /** Give the lease back if it is ours; true when done. */
  release(): Promise<boolean>;
  /** False only if the lease is known not to name us. */
  readonly mayHold: boolean;
  /** How often the lease has changed hands, as far as is known. */
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

  /**
   * One API call that is over after that time by our own clock, even if the client does not keep to its deadline. The request may still
   * be carried out later.
   */
  const withDeadline = <T>(
    deadlineMs: number,
    call: (options: CallOptions) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    withCallScope({ clock, deadlineMs, signal, what: `use the lease ${keyOf(lease)}` }, (inner) =>
      call({ signal: inner, deadlineMs }),
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

  /** The moment is taken before anything is sent. */
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
        // A leader whose name was taken off the lease has lost it, even if it could have it back at once.
        if (decision.kind === 'takeOver') return { kind: 'heldByOther', holder: holder() ?? '', forMs: 0 };
        if (decision.kind === 'wait') {
          return { kind: 'heldByOther', holder: decision.holder, forMs: decision.until - clock.monotonic() };
        }
        return write(decision.kind, rest());
      }),
    release: async () => {
      // Twice: a renewal that was given up may still arrive between our reading and our writing.
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
