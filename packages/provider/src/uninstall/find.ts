import { macHost, machine } from '@tartan/api';
import { type Client, isKubeError, type KubeObject, type List, type ListOptions, type Resource } from '@tartan/kube';
import { insist, type Patience } from '../hooks/insist.ts';
import type { Found } from './decide.ts';

/** What there is of a release. Nothing, where our kinds are not defined: then there is nothing to lose either. */
export const find = async (client: Client, namespace: string, patience: Patience): Promise<Found> => {
  const { signal } = patience;
  const all = <T extends KubeObject>(resource: Resource<T>, options: ListOptions<T>): Promise<List<T>['items']> =>
    insist(patience, async () => {
      try {
        return (await client.list(resource, { ...options, signal })).items;
      } catch (error) {
        if (isKubeError(error, 'notFound')) return [];
        throw error;
      }
    });
  // In this order: a machine that goes meanwhile has left its Mac on the way back.
  const machines = await all(machine.resource, { namespace });
  return { machines, hosts: await all(macHost.resource, {}) };
};
