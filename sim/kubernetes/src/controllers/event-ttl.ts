import { controllerManager } from '../authentication/user.ts';
import { ApiError } from '../errors/api-error.ts';
import { keyOf, splitKey } from './runtime/objects.ts';
import { watch } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

const hour = 3_600_000;

/** Events are removed an hour after they were last written. */
export const eventTtl = (onError: OnError): Controller => ({
  name: 'event-ttl',
  start: (api) => {
    const events = api.find('', 'events');
    if (!events) return () => {};
    const writtenAt = new Map<string, number>();

    const reconcile = (key: string): void => {
      const written = writtenAt.get(key);
      if (written === undefined) return;
      const left = written + hour - api.clock.now();
      if (left > 0) {
        queue.addAfter(key, left);
        return;
      }
      const { namespace, name } = splitKey(key);
      try {
        api.delete(events, namespace, name, controllerManager, { gracePeriodSeconds: 0 });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
      }
    };

    const queue = workQueue({ clock: api.clock, reconcile, onError });
    let existing = true;
    const stop = watch(api, '', 'events', (current, previous) => {
      const event = current ?? previous;
      if (!event) return;
      const key = keyOf(event);
      if (!current) {
        writtenAt.delete(key);
        return;
      }
      // For events older than this controller, the time of the last write is unknown.
      writtenAt.set(key, existing ? Date.parse(event.metadata.creationTimestamp) : api.clock.now());
      queue.addAfter(key, hour);
      if (existing) queue.add(key);
    });
    existing = false;
    return () => {
      stop();
      queue.stop();
    };
  },
});
