import {
  type Client,
  customResourceDefinitions,
  defineResource,
  ignoreNotFound,
  isKubeError,
  type KubeObject,
  type Resource,
} from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';

const pollMs = 100;
/** Controllers of the API server resync after five minutes (`New` in pkg/apiserver/apiserver.go of apiextensions-apiserver). */
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

/**
 * Waits until the API server serves the kinds and has opened their storages, so that it also deletes them at once.
 *
 * The first request for a kind opens its storage. If that request is the deletion of its definition, the finalizer controller gets 429,
 * writes it into the status, and retries. If its cache lacks that write, the retry ends in a conflict, and the controller forgets the
 * definition until its resync (`CRDFinalizer.sync` in pkg/controller/finalizer/crd_finalizer.go of apiextensions-apiserver).
 */
export const untilServed = async (
  client: Pick<Client, 'get' | 'list'>,
  definitions: readonly Definition[],
  clock?: Clock,
): Promise<void> => {
  for (const { metadata, spec } of definitions) {
    const name = metadata?.name ?? '';
    const isEstablished = async (): Promise<boolean> => {
      const { status } = await client.get(customResourceDefinitions, { name });
      return (status?.conditions ?? []).some((each) => each.type === 'Established' && each.status === 'True');
    };
    await pollUntil(
      async () => (await isEstablished()) && (await isStorageOpen(client, spec)),
      () =>
        `The API server does not serve ${name} six minutes after its definition was created. See its conditions: kubectl describe crd ${name}`,
      clock,
    );
  }
};

const isStorageOpen = async (
  client: Pick<Client, 'list'>,
  { group, names, scope, versions }: Definition['spec'],
): Promise<boolean> => {
  const { name: version = '' } = versions.find(({ served }) => served) ?? {};
  const resource = defineResource({ ...names, group, version, namespaced: scope === 'Namespaced' });
  try {
    // Without a limit: until the storage is open, a list with one reads etcd (`shouldDelegateListOnNotReadyCache` in
    // pkg/storage/cacher/delegator.go of apiserver).
    await client.list(resource, { pageSize: 0 });
    return true;
  } catch (error) {
    if (isKubeError(error, 'tooManyRequests', 'notFound')) return false;
    throw error;
  }
};
