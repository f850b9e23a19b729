import { type Client, createInformer, createLogger, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';

type Options = { readonly client: Client; readonly namespace?: string };

/** Watches all objects of a kind: for benchmarks that wait for a controller. */
export interface ObjectWatch<T extends KubeObject> {
  /** Resolves when the object of that name satisfies `holds`. Rejects after a timeout. */
  until(name: string, what: string, holds: (object: Live<T>) => boolean): Promise<void>;
  stop(): Promise<void>;
}

const patienceMs = 240_000;

export const watchObjects = async <T extends KubeObject>(
  resource: Resource<T>,
  { client, namespace }: Options,
): Promise<ObjectWatch<T>> => {
  const over = new AbortController();
  const cache = createInformer({
    client,
    resource,
    ...(namespace !== undefined && { namespace }),
    clock: systemClock,
    random: Math.random,
    log: createLogger({ level: 'error', write: (line) => process.stderr.write(line), clock: systemClock }),
  });
  const running = cache.run(over.signal);
  await cache.synced;
  return {
    until: (name, what, holds) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timeout = setTimeout(() => {
        const last = cache.list().find(({ metadata }) => metadata.name === name);
        reject(new Error(`waited in vain until ${resource.kind} ${name} ${what}: ${JSON.stringify(last)}`));
      }, patienceMs);
      const end = cache.subscribe((change) => {
        if (change.type === 'removed' || change.object.metadata.name !== name) return;
        try {
          if (holds(change.object)) resolve();
        } catch (error) {
          reject(error);
        }
      });
      return promise.finally(() => {
        clearTimeout(timeout);
        end();
      });
    },
    stop: async () => {
      over.abort();
      await running;
    },
  };
};
