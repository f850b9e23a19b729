import { createHash } from 'node:crypto';
import {
  customResourceDefinitions,
  defineResource,
  isKubeError,
  type KubeObject,
  type Live,
  secrets,
} from '@tartan/kube';
import { untilServed } from '@tartan/sim-fleet';
import type { Harness } from './harness.ts';
import { recordChanges } from './record-changes.ts';
import { namespace } from './values.ts';

interface ExternalSecret extends KubeObject {
  spec: {
    target: {
      name: string;
      creationPolicy: string;
      deletionPolicy: string;
      template?: { type?: string; metadata?: { labels?: Record<string, string> } };
    };
    data: { secretKey: string; remoteRef: { key: string; property?: string } }[];
  };
}

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

const [group, version, kind, plural] = ['external-secrets.io', 'v1', 'ExternalSecret', 'externalsecrets'] as const;
export const externalSecrets = defineResource<ExternalSecret>({ group, version, kind, plural, namespaced: true });

const definition: Definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: 'externalsecret' },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** A stand-in for External Secrets and its store. It supports only what Tartan's chart uses. */
export interface ExternalSecrets {
  /** A user puts a value into the store; ExternalSecrets that refer to it get it. */
  put(item: string, field: string, value: string): Promise<void>;
  stop(): Promise<void>;
}

export const startExternalSecrets = async (harness: Harness): Promise<ExternalSecrets> => {
  const { client } = harness;
  await client.create(customResourceDefinitions, definition);
  await untilServed(client, [definition]);
  const store = new Map<string, string>();
  let syncing = Promise.resolve();

  /** Like the operator with `creationPolicy: Orphan`: creates the Secret or writes into the existing one, without owning it. */
  const sync = async ({ metadata, spec: { target, data } }: Live<ExternalSecret>): Promise<void> => {
    // `None`: the operator writes nothing.
    if (target.creationPolicy !== 'Orphan') return;
    const values = data.map(({ secretKey, remoteRef: { key, property = '' } }) => ({
      key: secretKey,
      value: store.get(`${key}/${property}`),
    }));
    // A missing item: the operator reports it, and changes nothing.
    if (values.some(({ value }) => value === undefined)) return;
    const encoded = Object.fromEntries(
      values.map(({ key, value = '' }) => [key, Buffer.from(value).toString('base64')]),
    );
    const { type = 'Opaque', metadata: wanted } = target.template ?? {};
    const written = {
      labels: { ...wanted?.labels, 'reconcile.external-secrets.io/managed': 'true' },
      annotations: {
        'reconcile.external-secrets.io/data-hash': createHash('sha256').update(JSON.stringify(encoded)).digest('hex'),
      },
    };
    const where = { name: target.name, namespace: metadata.namespace ?? namespace };
    try {
      await client.patch(secrets, where, { type: 'merge', body: { metadata: written, data: encoded } });
    } catch (error) {
      if (!isKubeError(error, 'notFound')) throw error;
      const made = { apiVersion: 'v1', kind: 'Secret', type, data: encoded } as const;
      await client.create(secrets, { ...made, metadata: { ...where, ...written } });
    }
  };
  const soon = (object: Live<ExternalSecret>): Promise<void> => (syncing = syncing.then(() => sync(object)));
  const followed = await recordChanges(harness, externalSecrets, ({ type, object }) => {
    // `deletionPolicy: Retain`: the Secret stays.
    if (type !== 'DELETED') void soon(object);
  });
  return {
    put: async (item, field, value) => {
      store.set(`${item}/${field}`, value);
      for (const each of (await client.list(externalSecrets, { namespace })).items) await soon(each);
    },
    stop: async () => {
      await followed.stop();
      await syncing;
    },
  };
};
