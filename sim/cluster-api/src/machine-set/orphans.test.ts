import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customResourceDefinitions } from '@tartan/kube';
import { annotations, labels } from '../names.ts';
import { ownerReference } from '../owner-references.ts';
import { fakeDefinitions, fakeMachines } from '../suite/fake-provider.ts';
import { createHarness, type Harness, type Host } from '../suite/harness.ts';
import { embeddedHost } from '../testing/embedded-host.ts';

describe('cloned infrastructure without a Machine', () => {
  let host: Host;
  let harness: Harness;
  before(async () => {
    host = await embeddedHost();
    for (const definition of fakeDefinitions) await host.client.create(customResourceDefinitions, definition);
    harness = await createHarness(host, 'orphans');
    await harness.start({ replicas: 1 });
  });
  after(() => host.stop());

  /** As a MachineSet leaves it when it crashes before it creates the Machine. */
  const clone = async (name: string, notes: Record<string, string>): Promise<void> => {
    const [set] = await harness.sets();
    assert(set);
    await host.client.create(fakeMachines, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
      kind: 'FakeMachine',
      metadata: {
        namespace: harness.namespace,
        name,
        labels: { [labels.setName]: set.metadata.name },
        annotations: notes,
        ownerReferences: [ownerReference('MachineSet', set)],
      },
    });
  };
  const names = async (): Promise<string[]> => (await harness.hosts()).map(({ metadata }) => metadata.name);

  it('is deleted, and nothing else', async () => {
    const before = await names();
    await clone('orphan', { [annotations.clonedFromName]: 'first' });
    await clone('somebodys', {});
    await harness.waitFor('the orphan is gone', async () => !(await names()).includes('orphan'));
    await harness.ticks(2);
    assert.deepEqual(await names(), [...before, 'somebodys'].sort());
  });
});
