import assert from 'node:assert/strict';
import { macHost, type MacHost, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Client, KubeObject, Live } from '@tartan/kube';

type HostHold = { kind: 'free' } | { kind: 'held'; uid: string } | { kind: 'back' };

const holdOf = ({ spec }: MacHost): HostHold =>
  spec.consumerRef ? { kind: 'held', uid: spec.consumerRef.uid } : { kind: spec.release ? 'back' : 'free' };

type Machine = Live<ScalewayAppleSiliconMachine>;
type Host = Live<MacHost>;

/** The current objects, from the responses to all writes. A copy of them gets stale. */
export interface Ledger {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly hosts: ReadonlyMap<string, Host>;
  readonly claims: number;
  /** A client whose writes are all recorded, even if the response is lost. */
  recording(client: Client): Client;
}

const isHost = (object: KubeObject): object is Host => object.kind === macHost.names.kind;
const isMachine = (object: KubeObject): object is Machine => object.kind === machine.names.kind;

/** Follows every write, and fails as soon as one breaks an invariant. */
export const createLedger = (): Ledger => {
  const machines = new Map<string, Machine>();
  const hosts = new Map<string, Host>();
  let claims = 0;

  const noteHost = (host: Host): void => {
    const { name } = host.metadata;
    const known = hosts.get(name);
    const before: HostHold = known ? holdOf(known) : { kind: 'free' };
    const after = holdOf(host);
    if (after.kind === 'held') {
      const others = [...hosts.values()].filter(
        ({ metadata, spec }) => metadata.name !== name && spec.consumerRef?.uid === after.uid,
      );
      assert.equal(others.length, 0, `the machine ${after.uid} holds ${name} and another Mac`);
      assert.notEqual(before.kind, 'back', `${name} was claimed before it was wiped`);
      if (before.kind === 'held') assert.equal(before.uid, after.uid, `${name} went from one machine to another`);
      else claims += 1;
    }
    if (after.kind === 'free') assert.notEqual(before.kind, 'held', `${name} was set free without a wipe`);
    hosts.set(name, host);
  };

  const noteMachine = (own: Machine): void => {
    const { name, deletionTimestamp, finalizers = [] } = own.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) machines.delete(name);
    else machines.set(name, own);
  };

  const note = <T extends KubeObject>(answer: T): T => {
    if (isHost(answer)) noteHost(answer);
    else if (isMachine(answer)) noteMachine(answer);
    return answer;
  };

  return {
    machines,
    hosts,
    get claims() {
      return claims;
    },
    recording: (client) => ({
      ...client,
      create: async (resource, ...rest) => note(await client.create(resource, ...rest)),
      patch: async (resource, ...rest) => note(await client.patch(resource, ...rest)),
      delete: async (resource, ...rest) => {
        const left = await client.delete(resource, ...rest);
        return left && note(left);
      },
    }),
  };
};
