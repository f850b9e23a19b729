import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClient, customResourceDefinitions } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { machineTemplate } from '../kinds/machine.ts';
import { startEmbedded } from '../testing/embedded.ts';
import { definitionOf } from './index.ts';
import { refuses } from './suite/behaviours.ts';

describe('a template created before the CEL rules', () => {
  test('can still be updated with an owner by Cluster API, and the rules apply only to changes of its spec', async () => {
    const { transport, close } = await startEmbedded();
    const client = createClient(transport, { clock: systemClock });
    try {
      const definition = definitionOf(machineTemplate);
      const live = await client.get(customResourceDefinitions, { name: definition.metadata?.name ?? '' });
      const [version] = definition.spec.versions;
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const lenient = { ...definition.spec, versions: [{ ...version, schema: { openAPIV3Schema: open } }] };
      const replace = (spec: object) =>
        client.patch(customResourceDefinitions, live.metadata, { type: 'merge', body: { spec } });
      await replace(lenient);
      const name = { name: 'old', namespace: 'default' };
      const spec = { template: { spec: { os: 'macos-tahoe-26.3' } } };
      await client.create(machineTemplate.resource, machineTemplate.make({ metadata: name, spec }));
      await replace(definition.spec);
      const another = machineTemplate.make({ metadata: { ...name, name: 'new' }, spec });
      await refuses(client.create(machineTemplate.resource, another), /release family/);

      const body = { metadata: { labels: { owner: 'core' } } };
      const written = await client.patch(machineTemplate.resource, name, { type: 'merge', body });
      assert.equal(written.spec.template.spec.os, 'macos-tahoe-26.3');
    } finally {
      await close();
    }
  });
});
