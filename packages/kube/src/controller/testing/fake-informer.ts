import { untilAborted } from '../../errors/abort-signal.ts';
import type { InformerEvent } from '../../informer/informer.ts';
import type { KubeObject, Live } from '../../objects/object.ts';

/** An informer whose events the test sends. */
export const fakeInformer = <T extends KubeObject>() => {
  const listeners = new Set<(change: InformerEvent<T>) => void>();
  const synced = Promise.withResolvers<void>();
  const state = { hasSynced: false, running: false };
  return {
    synced: synced.promise,
    get hasSynced() {
      return state.hasSynced;
    },
    get running() {
      return state.running;
    },
    get listeners() {
      return listeners.size;
    },
    lastError: undefined as Error | undefined,
    sync: () => {
      state.hasSynced = true;
      synced.resolve();
    },
    tell: (change: InformerEvent<T>) => {
      for (const listener of listeners) listener(change);
    },
    subscribe: (listener: (change: InformerEvent<T>) => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    run: async (signal: AbortSignal) => {
      state.running = true;
      await untilAborted(signal);
      state.running = false;
    },
  };
};

export const live = (metadata: Partial<Live<KubeObject>['metadata']> & { name: string }): Live<KubeObject> => ({
  metadata: { uid: metadata.name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
});
