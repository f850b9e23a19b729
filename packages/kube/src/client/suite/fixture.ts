import { randomUUID } from 'node:crypto';
import { eventually } from '../../clock/testing/real-time.ts';
import { ignoreNotFound } from '../../errors/kube-error.ts';
import { customResourceDefinitions, namespaces, serviceAccounts } from '../../objects/builtin.ts';
import { defineResource, type KubeObject, type Live, type Resource } from '../../objects/object.ts';
import type { Client } from '../client.ts';
import type { Subresources } from '../subresources.ts';

/** What one test case uses: a shared cluster, and a namespace of its own. */
export interface Fixture {
  client: Client;
  /** The same cluster, with a token that it rejects. */
  stranger: Client;
  subresources: Subresources;
  namespace: string;
  signal: AbortSignal;
}

export interface Behaviour {
  sentence: string;
  run(fixture: Fixture): Promise<void>;
}

export const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** Lists and watches until the object meets the condition. */
export const waitFor = async <T extends KubeObject>(
  { client, signal }: Pick<Fixture, 'client' | 'signal'>,
  resource: Resource<T>,
  where: { namespace?: string; name: string },
  wanted: (object: Live<T>) => boolean,
): Promise<Live<T>> => {
  const { name, ...scope } = where;
  const options = { ...scope, fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(resource, options);
    const found = items.find(wanted);
    if (found) return found;
    for await (const event of client.watch(resource, { ...options, resourceVersion, timeoutSeconds: 60 })) {
      if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && wanted(event.object)) return event.object;
    }
  }
};

export const createNamespace = async (client: Client): Promise<string> => {
  const created = await client.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: unique('client') },
  });
  return created.metadata.name;
};

/** The API server admits no Pod before its namespace has the default ServiceAccount. */
export const waitForAccount = (fixture: Fixture): Promise<unknown> =>
  waitFor(fixture, serviceAccounts, { namespace: fixture.namespace, name: 'default' }, () => true);

export interface Widget extends KubeObject {
  spec: { replicas?: number; anything?: Record<string, unknown> };
  status?: { phase?: string; replicas?: number };
}

/** The API server serves a new CustomResourceDefinition with a delay, and sends no event for it. */
const untilServed = ({ client, signal }: Fixture, widgets: Resource<Widget>): Promise<unknown> =>
  eventually('the definition is served', () => ignoreNotFound(client.list(widgets, { signal })));

/** Defines a custom resource with all features for one test case; `remove` deletes it. */
export const defineWidgets = async (
  fixture: Fixture,
): Promise<{ widgets: Resource<Widget>; remove: () => Promise<unknown> }> => {
  const { client } = fixture;
  const group = `${unique('client')}.example.com`;
  const integer = { type: 'integer' };
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const crd = await client.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { replicas: integer, anything: free } },
                status: { type: 'object', properties: { phase: { type: 'string' }, replicas: integer } },
              },
            },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
        },
      ],
    },
  });
  const { name } = crd.metadata;
  await waitFor(fixture, customResourceDefinitions, { name }, ({ status }) =>
    (status?.conditions ?? []).some((each) => each.type === 'Established' && each.status === 'True'),
  );
  const widgets = defineResource<Widget>({ group, version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true });
  await untilServed(fixture, widgets);
  return { widgets, remove: () => client.delete(customResourceDefinitions, { name }) };
};
