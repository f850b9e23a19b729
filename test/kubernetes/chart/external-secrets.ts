import { type Client, defineResource, isKubeError, type KubeObject, type Live, secrets } from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';

interface ExternalSecret extends KubeObject {
  spec: {
    target: {
      name: string;
      creationPolicy: 'Owner' | 'Orphan' | 'None';
      template: { type: string; metadata: { labels: Record<string, string> } };
    };
    data: { secretKey: string; remoteRef: { key: string; property: string } }[];
  };
}

export const externalSecrets = defineResource<ExternalSecret>({
  group: 'external-secrets.io',
  version: 'v1',
  kind: 'ExternalSecret',
  plural: 'externalsecrets',
  namespaced: true,
});

/** The secret store: fields of items. */
export type Store = Record<string, Record<string, string>>;

/**
 * A stand-in for the External Secrets operator, at its most aggressive: any difference from the store is overwritten at once. The
 * ExternalSecret owns the Secret only if it says so.
 */
export const runFakeExternalSecrets = (client: Client, namespace: string, store: Store) => {
  const stopping = new AbortController();
  const sync = async ({ metadata, spec }: Live<ExternalSecret>): Promise<void> => {
    const { name, creationPolicy, template } = spec.target;
    const found = spec.data.map(({ secretKey, remoteRef }) => [secretKey, store[remoteRef.key]?.[remoteRef.property]]);
    if (creationPolicy === 'None' || found.some(([, value]) => value === undefined)) return;
    const data = Object.fromEntries(found.map(([key, value]) => [key, Buffer.from(value ?? '').toString('base64')]));
    const owner = {
      apiVersion: 'external-secrets.io/v1',
      kind: 'ExternalSecret',
      name: metadata.name,
      uid: metadata.uid,
    };
    const ownerReferences = creationPolicy === 'Owner' ? [owner] : [];
    const { labels } = template.metadata;
    const present = await client.get(secrets, { namespace, name }).catch(unlessMissing);
    if (present === undefined) {
      const made = { name, namespace, labels, ownerReferences };
      await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: made, type: template.type, data });
    } else if (JSON.stringify(present.data) !== JSON.stringify(data)) {
      const { resourceVersion } = present.metadata;
      const owned = creationPolicy === 'Owner' ? { ownerReferences } : {};
      const body = { metadata: { resourceVersion, labels, ...owned }, data };
      await client.patch(secrets, { namespace, name }, { type: 'merge', body });
    }
  };
  const round = async (): Promise<void> => {
    const { items } = await client.list(externalSecrets, { namespace });
    for (const item of items)
      await sync(item).catch((error: unknown) => {
        if (!isKubeError(error, 'conflict', 'alreadyExists')) throw error;
      });
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round();
      await sleep(systemClock, 200, stopping.signal);
    }
  };
  const running = run();
  return {
    stop: async (): Promise<void> => {
      stopping.abort();
      await running;
    },
  };
};

const unlessMissing = (error: unknown): undefined => {
  if (isKubeError(error, 'notFound')) return undefined;
  throw error;
};
