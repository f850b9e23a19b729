import { type Client, customResourceDefinitions, isKubeError, type KubeObject, type Resource } from '@tartan/kube';
import { type Clock, sleep, systemClock, systemClock as clock } from '@tartan/kube/clock';

/** What is put into a cluster, and what takes it out again. */
export interface Installer {
  /** Creates it unless it is there: an earlier start, or somebody else, has made it. */
  ensure<T extends KubeObject>(resource: Resource<T>, object: T): Promise<void>;
  /** Deletes what was made here, the latest first, and waits for each to be gone. What others made stays. */
  remove(): Promise<void>;
}

export const ignoreNotFound = async (request: Promise<unknown>): Promise<void> => {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
};

const pollMs = 200;
const timeoutMs = 60_000;

export const createInstaller = (client: Client, clock: Clock = systemClock): Installer => {
  const removals: (() => Promise<void>)[] = [];

  const removal = <T extends KubeObject>(resource: Resource<T>, { metadata }: T) => {
    const { name = '', namespace } = metadata ?? {};
    const which = { name, ...(resource.namespaced && namespace !== undefined && { namespace }) };
    return async (): Promise<void> => {
      const until = clock.monotonic() + timeoutMs;
      try {
        await client.delete(resource, which);
        for (;;) {
          await client.get(resource, which);
          if (clock.monotonic() > until)
            throw new Error(`${resource.kind} ${name} was deleted and does not go: see what its finalizers wait for.`);
          await sleep(clock, pollMs, AbortSignal.timeout(timeoutMs));
        }
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
      }
    };
  };

  return {
    ensure: async (resource, object) => {
      try {
        await client.create(resource, object);
        removals.push(removal(resource, object));
      } catch (error) {
        if (!isKubeError(error, 'alreadyExists')) throw error;
      }
    },
    remove: async () => {
      for (const each of removals.splice(0).toReversed()) await each();
    },
  };
};

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

/** A real server takes objects of a kind a moment after its definition. */
export const untilServed = async (client: Client, definitions: readonly Definition[]): Promise<void> => {
  for (const { metadata } of definitions) {
    const name = metadata?.name ?? '';
    for (;;) {
      const { status } = await client.get(customResourceDefinitions, { name });
      if (status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')) break;
      await sleep(clock, 50, AbortSignal.timeout(1000));
    }
  }
};
