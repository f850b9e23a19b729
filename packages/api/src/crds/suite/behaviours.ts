import assert from 'node:assert/strict';
import { type Client, isKubeError, type KubeObject, type Resource, type Subresources } from '@tartan/kube';
import { cluster } from '../../kinds/cluster.ts';
import { externalControlPlane } from '../../kinds/external-control-plane.ts';
import { macFleet } from '../../kinds/mac-fleet.ts';
import { machine, machineTemplate } from '../../kinds/machine.ts';
import { runnerPool } from '../../kinds/runner-pool.ts';

/** The fixture of one behaviour, with its own namespace. */
export interface Fixture {
  client: Client;
  subresources: Subresources;
  namespace: string;
}

export interface Behaviour {
  sentence: string;
  run(fixture: Fixture): Promise<void>;
}

/** Asserts that the server rejects the attempt with this message. */
export const refuses = async (attempt: Promise<unknown>, message: RegExp): Promise<void> => {
  await assert.rejects(attempt, (error) => {
    assert.ok(isKubeError(error, 'invalid'), String(error));
    assert.match(error.message, message);
    return true;
  });
};

const warmPool = { image: 'macos:26', fleetSelector: 'runners' };

export const defaults: readonly Behaviour[] = [
  {
    sentence: 'a machine that asks for nothing asks for the usual Mac',
    run: async ({ client, namespace }) => {
      const bare = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1', kind: 'ScalewayAppleSiliconMachine' };
      const resource: Resource<KubeObject & { spec?: object; status?: object }> = machine.resource;
      const created = await client.create(resource, { ...bare, metadata: { name: 'bare', namespace } });
      assert.deepEqual(created.spec, { type: 'M2-L', zone: 'fr-par-1', os: 'Tahoe' });
      assert.equal(created.status, undefined);
    },
  },
  {
    sentence: 'what a kind fills in when making an object is what the server would fill in',
    run: async ({ client, namespace }) => {
      const metadata = { name: 'filled', namespace };
      const fleet = macFleet.make({ metadata });
      assert.deepEqual((await client.create(macFleet.resource, fleet)).spec, fleet.spec);
      const infra = cluster.make({ metadata });
      assert.deepEqual((await client.create(cluster.resource, infra)).spec, infra.spec);
      const plane = externalControlPlane.make({ metadata });
      assert.deepEqual((await client.create(externalControlPlane.resource, plane)).spec, plane.spec);
      const pool = runnerPool.make({ metadata, spec: warmPool });
      assert.deepEqual((await client.create(runnerPool.resource, pool)).spec, pool.spec);
      const template = machineTemplate.make({ metadata, spec: { template: { spec: { ghActionsRunner: {} } } } });
      assert.deepEqual((await client.create(machineTemplate.resource, template)).spec, template.spec);
    },
  },
  {
    sentence: 'a fleet that no controller has seen is not done: kstatus finds generation -1',
    run: async ({ client, namespace }) => {
      const { status } = await client.create(
        macFleet.resource,
        macFleet.make({ metadata: { name: 'new', namespace } }),
      );
      assert.deepEqual(status, { observedGeneration: -1 });
    },
  },
  {
    sentence: 'a zero is a wish, not a hole for the default',
    run: async ({ client, namespace }) => {
      const spec = { ...warmPool, replicas: 0, idleTimeoutSeconds: 0, runnerLabels: [] };
      const pool = runnerPool.make({ metadata: { name: 'off', namespace }, spec });
      const created = await client.create(runnerPool.resource, pool);
      assert.deepEqual([created.spec.replicas, created.spec.idleTimeoutSeconds, created.spec.runnerLabels], [0, 0, []]);
    },
  },
  {
    sentence: 'a pool of runners can be scaled by `kubectl scale`',
    run: async ({ client, subresources, namespace }) => {
      const name = { name: 'scaled', namespace };
      await client.create(runnerPool.resource, runnerPool.make({ metadata: name, spec: warmPool }));
      const scale = await subresources.getScale(runnerPool.resource, name);
      await subresources.updateScale(runnerPool.resource, { ...scale, spec: { replicas: 7 } });
      assert.equal((await client.get(runnerPool.resource, name)).spec.replicas, 7);
    },
  },
  {
    sentence: 'a machine that was cloned from an old template is taken, whatever it pins (INC-314)',
    run: async ({ client, namespace }) => {
      const spec = { os: 'macos-tahoe-26.3', type: '', hostCPU: 0 };
      const created = await client.create(
        machine.resource,
        machine.make({ metadata: { name: 'old', namespace }, spec }),
      );
      assert.equal(created.spec.os, 'macos-tahoe-26.3');
    },
  },
];
