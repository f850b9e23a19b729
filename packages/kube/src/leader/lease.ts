import { microTimestamp } from '../clock/index.ts';
import { isRecord } from '../json.ts';
import { defineResource, type KubeObject, type Live, type ObjectName } from '../objects/object.ts';

/** `spec` is unvalidated: any client may have written it. Use `recordOf`. */
export interface Lease extends KubeObject {
  spec?: unknown;
}

export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
});

/** The fields of a Lease that leader election uses. */
export interface LeaseRecord {
  /** Empty without a holder. */
  holder: string;
  /** The holder's lease duration; undefined when absent. */
  durationMs: number | undefined;
  acquireTime: string | undefined;
  transitions: number;
  /**
   * Two records are equal if their texts are. Does not include the resource version: a label set by another client is no
   * renewal.
   */
  text: string;
}

/** An unreadable identity is treated as another holder. */
const holderOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : `(unreadable) ${JSON.stringify(value)}`;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Total: invalid fields count as absent. */
export const recordOf = (lease: Live<Lease>): LeaseRecord => {
  const spec = isRecord(lease.spec) ? lease.spec : {};
  const seconds = spec['leaseDurationSeconds'];
  const transitions = spec['leaseTransitions'];
  const acquireTime = spec['acquireTime'];
  return {
    holder: holderOf(spec['holderIdentity']),
    durationMs: isCount(seconds) && seconds > 0 ? seconds * 1000 : undefined,
    acquireTime: typeof acquireTime === 'string' ? acquireTime : undefined,
    transitions: isCount(transitions) ? transitions : 0,
    text: `${lease.metadata.uid} ${JSON.stringify(lease.spec)}`,
  };
};

/** The holder's identity and timing for a write. */
interface LeaseWrite {
  identity: string;
  leaseMs: number;
  /** From `renewTimeOf`. */
  time: string;
}

const largestCount = 2_147_483_647;

/**
 * MicroTime for the `count`th write of this process. The microseconds, which our clock does not have, count the writes: so no two
 * records are equal, even when the wall clock stops or is set back. Candidates ignore an unchanged record, and the server would
 * not even store it.
 */
export const renewTimeOf = (wall: number, count: number): string =>
  microTimestamp(wall).replace(/\d{3}Z$/, `${String(count % 1000).padStart(3, '0')}Z`);

const specOf = ({ identity, leaseMs, time }: LeaseWrite, transitions: number, acquireTime: string | undefined) => ({
  holderIdentity: identity,
  leaseDurationSeconds: leaseMs / 1000,
  acquireTime: acquireTime ?? time,
  renewTime: time,
  leaseTransitions: Math.min(transitions, largestCount),
});

export const newLease = ({ namespace, name }: ObjectName, writing: LeaseWrite): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec: specOf(writing, 0, undefined),
});

/** Keeps the resource version (optimistic lock) and all other fields. */
const withSpec = (lease: Live<Lease>, fields: object): Live<Lease> => ({
  ...lease,
  spec: { ...(isRecord(lease.spec) ? lease.spec : {}), ...fields },
});

export const acquiredLease = (lease: Live<Lease>, writing: LeaseWrite): Live<Lease> =>
  withSpec(lease, specOf(writing, recordOf(lease).transitions + 1, undefined));

export const renewedLease = (lease: Live<Lease>, writing: LeaseWrite): Live<Lease> => {
  const { transitions, acquireTime } = recordOf(lease);
  return withSpec(lease, specOf(writing, transitions, acquireTime));
};

/** The same fields as client-go's release, so that any kind of candidate takes over at once. */
export const releasedLease = (lease: Live<Lease>, time: string): Live<Lease> =>
  withSpec(lease, specOf({ identity: '', leaseMs: 1000, time }, recordOf(lease).transitions, undefined));
