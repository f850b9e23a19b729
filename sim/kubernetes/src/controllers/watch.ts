import type { Api } from '../api/api.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { keyQueue } from './key-queue.ts';

/** `current` is undefined when the object was removed, `previous` when it is new or had been there before the watch. */
export type Note = (current: KubeObject | undefined, previous: KubeObject | undefined) => void;

const watchResource = (api: Api, resource: Resource, note: Note): (() => void) => {
  const stop = api.subscribe(resource, (change) => note(change.object, change.previous));
  for (const object of api.list(resource, '')) note(object, undefined);
  return stop;
};

/** What exists of a kind, then every change to it. `note` is called within writes: it may only take notes. */
export const watch = (api: Api, group: string, plural: string, note: Note): (() => void) => {
  const resource = api.find(group, plural);
  return resource ? watchResource(api, resource, note) : () => {};
};

/** Discovery is also asked without a sign, should one have been missed. */
const pollEvery = 30_000;

/** Like `watch`, for all kinds that `wanted` takes, also those that custom resource definitions bring later. */
export const watchAll = (
  api: Api,
  wanted: (resource: Resource) => boolean,
  note: (resource: Resource, current: KubeObject | undefined, previous: KubeObject | undefined) => void,
): (() => void) => {
  const watched = new Map<string, { resource: Resource; stop: () => void }>();

  const follow = (): void => {
    const served = new Map(
      api
        .resources()
        .filter(wanted)
        .map((resource) => [`${resource.plural}.${resource.group}`, resource]),
    );
    for (const [name, { resource, stop }] of watched) {
      if (served.get(name) === resource) continue;
      stop();
      watched.delete(name);
    }
    for (const [name, resource] of served) {
      if (watched.has(name)) continue;
      const stop = watchResource(api, resource, (current, previous) => note(resource, current, previous));
      watched.set(name, { resource, stop });
    }
  };

  const kinds = keyQueue({
    clock: api.clock,
    reconcile: () => {
      kinds.addAfter('', pollEvery);
      follow();
    },
    onError: () => {},
  });
  follow();
  kinds.addAfter('', pollEvery);
  const stopDefinitions = watch(api, 'apiextensions.k8s.io', 'customresourcedefinitions', () => kinds.add(''));
  return () => {
    stopDefinitions();
    kinds.stop();
    for (const { stop } of watched.values()) stop();
    watched.clear();
  };
};
