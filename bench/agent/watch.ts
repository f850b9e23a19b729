import { type Client, createLogger, createInformer, type KubeObject, type Resource, type Informer } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';

/** All objects of a kind, as another client sees them. */
export interface Watch<T extends KubeObject> {
  readonly cache: Informer<T>;
  stop(): Promise<void>;
}

export const watch = async <T extends KubeObject>(resource: Resource<T>, client: Client): Promise<Watch<T>> => {
  const over = new AbortController();
  const log = createLogger({ level: 'error', write: (line) => process.stderr.write(line), clock });
  const cache = createInformer({ client, resource, clock, random: Math.random, log });
  const running = cache.run(over.signal);
  await cache.synced;
  return {
    cache,
    stop: async () => {
      over.abort();
      await running;
    },
  };
};
