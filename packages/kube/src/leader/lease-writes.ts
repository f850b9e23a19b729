import { microTimestamp } from '../clock/index.ts';
import type { Live, ObjectName } from '../objects/object.ts';
import { isFields, type Lease, type LeaseRecord } from './lease.ts';

/** What a write says besides the holder's name. */
export interface Writing {
  identity: string;
  leaseMs: number;
  /** From `renewTimeOf`. */
  time: string;
}

const largestCount = 2_147_483_647;

/**
 * MicroTime for the `count`th write of this process. The microseconds, which our clock does not have, count the writes: so no two
 * records look alike, not even when the wall clock stands still or is set back. An unchanged record would be no sign of life
 * to the others, and the server would not even store it.
 */
export const renewTimeOf = (wall: number, count: number): string =>
  microTimestamp(wall).replace(/\d{3}Z$/, `${String(count % 1000).padStart(3, '0')}Z`);

export const created = ({ namespace, name }: ObjectName, { identity, leaseMs, time }: Writing): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec: {
    holderIdentity: identity,
    leaseDurationSeconds: leaseMs / 1000,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  },
});

/** The same object with its resource version and whatever else it holds: the server refuses it if somebody was faster. */
const withSpec = (lease: Live<Lease>, fields: object): Live<Lease> => ({
  ...lease,
  spec: { ...(isFields(lease.spec) ? lease.spec : {}), ...fields },
});

export const takenOver = (lease: Live<Lease>, { transitions }: LeaseRecord, writing: Writing): Live<Lease> =>
  withSpec(lease, {
    holderIdentity: writing.identity,
    leaseDurationSeconds: writing.leaseMs / 1000,
    acquireTime: writing.time,
    renewTime: writing.time,
    leaseTransitions: Math.min(transitions + 1, largestCount),
  });

export const renewed = (lease: Live<Lease>, { transitions, acquireTime }: LeaseRecord, writing: Writing): Live<Lease> =>
  withSpec(lease, {
    holderIdentity: writing.identity,
    leaseDurationSeconds: writing.leaseMs / 1000,
    acquireTime: acquireTime ?? writing.time,
    renewTime: writing.time,
    leaseTransitions: Math.min(transitions, largestCount),
  });

/** As client-go writes it, so that every kind of candidate takes over at once. */
export const released = (lease: Live<Lease>, { transitions }: LeaseRecord, time: string): Live<Lease> =>
  withSpec(lease, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: Math.min(transitions, largestCount),
  });
