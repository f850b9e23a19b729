import type { Clock } from '../../clock/index.ts';
import { KubeError } from '../../errors/kube-error.ts';
import type { KubeObject, Live } from '../../objects/object.ts';
import type { LeaseClient } from '../lease-candidate.ts';
import type { Lease } from '../lease.ts';

/** Fault and latency of one request. */
export interface RequestFault {
  /** Until the server executes it. */
  toMs: number;
  /** Until the response arrives. */
  backMs: number;
  kind: 'answered' | 'requestLost' | 'answerLost' | 'failedBefore' | 'failedAfter';
}

export const noFault: RequestFault = { toMs: 0, backMs: 0, kind: 'answered' };

/** Stores one Lease, by the API server's rules that leader election relies on. */
export interface LeaseServer {
  current: Live<Lease> | undefined;
  /** Every stored record. */
  readonly history: unknown[];
  get(): Live<Lease>;
  create(lease: Lease): Live<Lease>;
  update(lease: Lease): Live<Lease>;
}

export const createLeaseServer = (): LeaseServer => {
  let version = 0;
  const store = (lease: Lease, uid: string): Live<Lease> => {
    const metadata = { ...lease.metadata, name: 'it', uid, resourceVersion: String(++version), creationTimestamp: '' };
    server.current = structuredClone({ ...lease, metadata });
    server.history.push(structuredClone(lease.spec));
    return structuredClone(server.current);
  };
  const server: LeaseServer = {
    current: undefined,
    history: [],
    get: () => {
      if (!server.current) throw new KubeError('notFound', 'leases "it" not found');
      return structuredClone(server.current);
    },
    create: (lease) => {
      if (server.current) throw new KubeError('alreadyExists', 'leases "it" already exists');
      return store(lease, `uid-${version}`);
    },
    update: (lease) => {
      if (!server.current) throw new KubeError('notFound', 'leases "it" not found');
      const { uid, resourceVersion } = server.current.metadata;
      if (lease.metadata?.resourceVersion !== resourceVersion) {
        throw new KubeError('conflict', 'the object has been modified');
      }
      // As the API server: a write without changes is not stored.
      if (JSON.stringify(lease.spec) === JSON.stringify(server.current.spec)) return server.get();
      return store(lease, uid);
    },
  };
  return server;
};

/** Tells the compiler that the result has the requested type: this server stores only Leases. */
const isAsked = <T extends KubeObject>(_object: Live<Lease>): _object is Live<Lease> & Live<T> => true;

/**
 * A client on a bad network. The request travels on the shared clock, the response on the candidate's own: a frozen
 * process does not see it. Ignores deadlines and signals, because callers must not depend on them.
 */
export const leaseClient = (
  server: LeaseServer,
  sharedClock: Clock,
  own: Clock,
  nextFault: () => RequestFault,
): LeaseClient => {
  const wait = (clock: Clock, milliseconds: number): Promise<void> =>
    milliseconds === 0 ? Promise.resolve() : new Promise((resolve) => void clock.after(milliseconds, resolve));
  const exchange = async <T extends KubeObject>(carryOut: () => Live<Lease>): Promise<Live<T>> => {
    const { toMs, backMs, kind } = nextFault();
    const never = new Promise<never>(() => {});
    await wait(sharedClock, toMs);
    if (kind === 'requestLost') return never;
    if (kind === 'failedBefore') throw new KubeError('serverError', 'etcd is not there', { code: 500 });
    let answer: Live<Lease> | undefined;
    let refusal: unknown;
    try {
      answer = carryOut();
    } catch (error) {
      refusal = error;
    }
    if (kind === 'answerLost') return never;
    await wait(own, backMs);
    if (kind === 'failedAfter') throw new KubeError('unreachable', 'the connection broke');
    if (answer && isAsked<T>(answer)) return answer;
    throw refusal;
  };
  return {
    get: () => exchange(() => server.get()),
    create: (_resource, object) => exchange(() => server.create(object)),
    update: (_resource, object) => exchange(() => server.update(object)),
  };
};
