import {
  type Client,
  customResourceDefinitions,
  ignoreNotFound,
  isKubeError,
  type KubeObject,
  type Resource,
} from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';

const pollMs = 100;
/** A controller of the API server that has missed a change resyncs after five minutes (apiextensions-apiserver, `apiserver.go`). */
const timeoutMs = 6 * 60_000;

/** Polls until it holds. Rejects with the message after six minutes. */
export const pollUntil = async (
  holds: () => Promise<boolean>,
  message: () => string,
  clock: Clock = systemClock,
): Promise<void> => {
  const deadline = clock.monotonic() + timeoutMs;
  while (!(await holds())) {
    if (clock.monotonic() > deadline) throw new Error(message());
    await sleep(clock, pollMs);
  }
};

/** Installs objects in a cluster, and uninstalls them. */
export interface Installer {
  /** Creates the object unless it exists. */
  ensure<T extends KubeObject>(resource: Resource<T>, object: T): Promise<void>;
  /** Deletes the objects that this installer created, the latest first, and waits for each deletion. */
  remove(): Promise<void>;
}

export const createInstaller = (client: Client): Installer => {
  const removals: (() => Promise<void>)[] = [];
  return {
    ensure: async (resource, object) => {
      try {
        await client.create(resource, object);
      } catch (error) {
        if (!isKubeError(error, 'alreadyExists')) throw error;
        return;
      }
      const { name = '', namespace } = object.metadata ?? {};
      const which = { name, ...(resource.namespaced && namespace !== undefined && { namespace }) };
      removals.push(async () => {
        await ignoreNotFound(client.delete(resource, which));
        await pollUntil(
          async () => (await ignoreNotFound(client.get(resource, which))) === undefined,
          () => `${resource.kind} ${name} is still there six minutes after its deletion. Check its finalizers.`,
        );
      });
    },
    remove: async () => {
      for (const each of removals.splice(0).toReversed()) await each();
    },
  };
};

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

/** A real API server serves a kind some time after its definition is created. */
export const untilServed = async (
  client: Pick<Client, 'get'>,
  definitions: readonly Definition[],
  clock?: Clock,
): Promise<void> => {
  for (const { metadata } of definitions) {
    const name = metadata?.name ?? '';
    const isEstablished = async (): Promise<boolean> => {
      const { status } = await client.get(customResourceDefinitions, { name });
      return (status?.conditions ?? []).some((each) => each.type === 'Established' && each.status === 'True');
    };
    await pollUntil(
      isEstablished,
      () =>
        `The API server does not serve ${name} six minutes after its definition was created. See its conditions: kubectl describe crd ${name}`,
      clock,
    );
  }
};
