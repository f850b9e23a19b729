import { microTimestamp } from '../clock/index.ts';
import { isRecord } from '../json.ts';
import { defineResource, type KubeObject, type Live, type ObjectName } from '../objects/object.ts';

/** `spec` is whatever the server sent: anybody may have written it, so nothing is believed of it before `recordOf`. */
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

/** What a Lease says, as far as an election asks. */
export interface LeaseRecord {
  /** Empty when nobody holds it. */
  holder: string;
  /** What its holder promised; undefined when the Lease does not say. */
  durationMs: number | undefined;
  acquireTime: string | undefined;
  transitions: number;
  /** Two records are the same if their texts are. Not the resource version: a label set by somebody is no sign of life. */
  text: string;
}

/** Somebody holds it, though we cannot read who: left alone as any other holder's. */
const holderOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : `(unreadable) ${JSON.stringify(value)}`;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Total: garbage reads as "does not say". */
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

/** What a write says besides the holder's name. */
interface LeaseWrite {
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

/** The same object with its resource version and its other fields: the server refuses it if another process was faster. */
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

/** As client-go writes it, so that every kind of candidate takes over at once. */
export const releasedLease = (lease: Live<Lease>, time: string): Live<Lease> =>
  withSpec(lease, specOf({ identity: '', leaseMs: 1000, time }, recordOf(lease).transitions, undefined));
