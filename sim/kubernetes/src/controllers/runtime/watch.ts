import type { KubeObject } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { workQueue } from './workqueue.ts';

/** `current` is undefined when the object was removed; `previous` when it is new or older than the watch. */
export type ChangeHandler = (current: KubeObject | undefined, previous: KubeObject | undefined) => void;

const watchResource = (api: LoopbackClient, resource: Resource, onChange: ChangeHandler): (() => void) => {
  const stop = api.subscribe(resource, (change) => onChange(change.object, change.previous));
  for (const object of api.list(resource, '')) onChange(object, undefined);
  return stop;
};

/** Lists the objects of a kind, then watches them. `onChange` runs within writes, so it may only enqueue. */
export const watch = (api: LoopbackClient, group: string, plural: string, onChange: ChangeHandler): (() => void) => {
  const resource = api.find(group, plural);
  return resource ? watchResource(api, resource, onChange) : () => {};
};

/** Discovery is also polled, in case a change was missed. */
const pollEvery = 30_000;

/** Like `watch`, for all kinds that `wanted` accepts, including later custom resources. */
export const watchAll = (
  api: LoopbackClient,
  isWatched: (resource: Resource) => boolean,
  onChange: (resource: Resource, current: KubeObject | undefined, previous: KubeObject | undefined) => void,
): (() => void) => {
  const watched = new Map<string, { resource: Resource; stop: () => void }>();

  const follow = (): void => {
    const served = new Map(
      api
        .resources()
        .filter(isWatched)
        .map((resource) => [`${resource.plural}.${resource.group}`, resource]),
    );
    for (const [name, { resource, stop }] of watched) {
      if (served.get(name) === resource) continue;
      stop();
      watched.delete(name);
    }
    for (const [name, resource] of served) {
      if (watched.has(name)) continue;
      const stop = watchResource(api, resource, (current, previous) => onChange(resource, current, previous));
      watched.set(name, { resource, stop });
    }
  };

  const kinds = workQueue({
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
