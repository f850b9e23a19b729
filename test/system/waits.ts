import type { Client, KubeObject, Live, ObjectName, Resource } from '@tartan/kube';
import { testDeadline } from '@tartan/kube/testing';
import { fleetNamespace } from '@tartan/sim-fleet';
import { waitForObject } from './wait-for-object.ts';

/** Waits for objects. A plain name means the namespace of the fleets, or a cluster-scoped object. */
export interface Waits {
  waitFor<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName | string,
    what: string,
    holds: (object: Live<T>) => boolean,
  ): Promise<Live<T>>;
  waitUntilGone<T extends KubeObject>(resource: Resource<T>, name: ObjectName | string): Promise<void>;
}

/** `broken` rejects when waiting has become pointless. */
export const createWaits = (client: Client, broken?: Promise<never>, namespace: string = fleetNamespace): Waits => {
  const orBroken = <T>(waiting: Promise<T>): Promise<T> => Promise.race([waiting, ...(broken ? [broken] : [])]);
  const inNamespace = ({ namespaced }: { namespaced: boolean }, name: ObjectName | string): ObjectName =>
    typeof name === 'string' ? { name, ...(namespaced && { namespace }) } : name;
  return {
    waitFor: async (resource, name, what, holds) => {
      const seen = await orBroken(
        waitForObject({
          client,
          resource,
          name: inNamespace(resource, name),
          what,
          holds: (object) => object !== undefined && holds(object),
          signal: testDeadline(),
        }),
      );
      if (seen === undefined) throw new Error('unreachable: an object was asked for');
      return seen;
    },
    waitUntilGone: async (resource, name) => {
      const holds = (object: object | undefined): boolean => object === undefined;
      const where = { client, resource, name: inNamespace(resource, name), what: 'is gone' };
      await orBroken(waitForObject({ ...where, holds, signal: testDeadline() }));
    },
  };
};
