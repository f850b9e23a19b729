import { after, before, describe, it } from 'node:test';
import {
  type Client,
  customResourceDefinitions,
  isConditionTrue,
  isKubeError,
  type KubeObject,
  leases,
  namespaces,
  nodes,
  type Resource,
} from '@tartan/kube';
import { clusters, machineDeployments, machines, machineSets } from '../kinds.ts';
import { ignoreNotFound } from '../writes.ts';
import { fakeDefinitions, fakeMachines } from './fake-provider.ts';
import { createHarness, type Host, type Scenario } from './harness.ts';
import { bringUp } from './scenarios/bring-up.ts';
import { wholeCluster } from './scenarios/cluster.ts';
import { draining } from './scenarios/draining.ts';
import { rolling } from './scenarios/rolling.ts';
import { scaling } from './scenarios/scaling.ts';

/** Owners first, so that nothing is created again. */
const deletedInOrder: readonly Resource<KubeObject>[] = [
  machineDeployments,
  machineSets,
  machines,
  fakeMachines,
  clusters,
];

/** Deletes all objects of a scenario, also after a failure. Its provider has stopped, so finalizers are removed. */
const deleteEverything = async (client: Client, namespace: string): Promise<void> => {
  for (const resource of deletedInOrder)
    for (const { metadata } of (await client.list(resource, { namespace })).items) {
      const name = { namespace, name: metadata.name };
      await ignoreNotFound(client.delete(resource, name));
      await ignoreNotFound(client.patch(resource, name, { type: 'merge', body: { metadata: { finalizers: null } } }));
    }
  for (const { metadata, spec } of (await client.list(nodes)).items) {
    if (!spec?.providerID?.startsWith(`played://${namespace}/`)) continue;
    await ignoreNotFound(client.delete(nodes, { name: metadata.name }));
    await ignoreNotFound(client.delete(leases, { namespace: 'kube-node-lease', name: metadata.name }));
  }
  await ignoreNotFound(client.delete(namespaces, { name: namespace }));
};

const scenarios: Readonly<Record<string, readonly Scenario[]>> = {
  'bringing up': bringUp,
  scaling,
  rolling,
  draining,
  'the whole Cluster': wholeCluster,
};

const install = async ({ client, tick }: Host): Promise<void> => {
  for (const definition of fakeDefinitions) {
    try {
      await client.create(customResourceDefinitions, definition);
    } catch (error) {
      if (!isKubeError(error, 'alreadyExists')) throw error;
    }
    const name = definition.metadata?.name ?? '';
    const isServed = async (): Promise<boolean> => {
      const { status } = await client.get(customResourceDefinitions, { name });
      return isConditionTrue(status?.conditions as Parameters<typeof isConditionTrue>[0], 'Established');
    };
    while (!(await isServed())) await tick();
  }
};

/**
 * Runs every scenario on a host, each in its own namespace. The same scenarios run against core and against its simulator. With
 * `sideBySide` they run concurrently: core requeues after 20 s or 30 s.
 */
export const runClusterApiSuite = (
  title: string,
  start: () => Promise<Host>,
  { sideBySide = false }: { readonly sideBySide?: boolean } = {},
): void => {
  describe(title, { concurrency: sideBySide }, () => {
    let host: Host;
    let played = 0;
    before(async () => {
      host = await start();
      await install(host);
    });
    after(() => host.stop());

    for (const [chapter, list] of Object.entries(scenarios))
      describe(chapter, { concurrency: sideBySide }, () => {
        for (const { name, run } of list)
          it(name, async () => {
            played += 1;
            const namespace = `played-${process.pid}-${played}`;
            const harness = await createHarness(host, namespace);
            try {
              await run(harness);
            } finally {
              await deleteEverything(host.client, namespace);
            }
          });
      });
  });
};
