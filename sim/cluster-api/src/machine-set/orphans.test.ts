import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customResourceDefinitions } from '@tartan/kube';
import { annotations, labels } from '../names.ts';
import type { Host } from '../suite/host.ts';
import { playedDefinitions, playedMachines } from '../suite/played-kinds.ts';
import { createStage, type Stage } from '../suite/stage.ts';
import { embeddedHost } from '../testing/embedded-host.ts';
import { plainOwner } from '../writing/owners.ts';

describe('infrastructure that was cloned for a Machine that never came to be', () => {
  let host: Host;
  let stage: Stage;
  before(async () => {
    host = await embeddedHost();
    for (const definition of playedDefinitions) await host.client.create(customResourceDefinitions, definition);
    stage = await createStage(host, 'orphans');
    await stage.running({ replicas: 1 });
  });
  after(() => host.stop());

  /** As a MachineSet leaves it when it dies before it has made the Machine. */
  const clone = async (name: string, notes: Record<string, string>): Promise<void> => {
    const [set] = await stage.sets();
    assert(set);
    await host.client.create(playedMachines, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
      kind: 'PlayedMachine',
      metadata: {
        namespace: stage.namespace,
        name,
        labels: { [labels.setName]: set.metadata.name },
        annotations: notes,
        ownerReferences: [plainOwner('MachineSet', set)],
      },
    });
  };
  const names = async (): Promise<string[]> => (await stage.hosts()).map(({ metadata }) => metadata.name);

  it('is deleted, and nothing else is', async () => {
    const before = await names();
    await clone('orphan', { [annotations.clonedFromName]: 'first' });
    await clone('somebodys', {});
    await stage.until('the orphan is gone', async () => !(await names()).includes('orphan'));
    await stage.moments(2);
    assert.deepEqual(await names(), [...before, 'somebodys'].sort());
  });
});
