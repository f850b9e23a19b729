import type { KubeObject, Live } from '../objects/object.ts';
import { defineResource } from '../objects/resource.ts';

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

export const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Somebody holds it, though we cannot read who: left alone as any other holder's. */
const holderOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : `(unreadable) ${JSON.stringify(value)}`;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Total: garbage reads as "does not say". */
export const recordOf = (lease: Live<Lease>): LeaseRecord => {
  const spec = isFields(lease.spec) ? lease.spec : {};
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
