import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { createHarness } from './testing/harness.ts';

describe('a machine', () => {
  it('claims a Mac, is bootstrapped, and follows its Node', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addHost();
    await harness.addMachine();
    assert.equal((await harness.status()).serverID, 'server-1');
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    assert.equal((await harness.status()).phase, 'Adopting');
    assert.equal(harness.work.jobs.length, 0, 'nothing is sent before Scaleway has its name');
    await harness.rename();
    const { spec, metadata, status } = await harness.get();
    assert.deepEqual(metadata.finalizers, [finalizers.machine]);
    assert.equal(spec.providerID, 'scw-applesilicon://fr-par-1/server-1');
    assert.equal(status?.initialization?.provisioned, true);
    assert.equal(status.ready, false, 'there is no Node yet');
    assert.equal(status.phase, 'NotReady');
    assert.equal(harness.work.jobs.length, 1);
    await harness.addNode();
    const ready = await harness.status();
    assert.equal(ready.ready, true);
    assert.equal(ready.phase, 'Ready');
    assert.deepEqual(ready.addresses, [
      { type: 'ExternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '100.64.0.1' },
    ]);
    assert.equal(ready.desiredHostConfigHash, ready.hostConfigHash, 'the first push is no drift');
    for (const type of ['Ready', 'Provisioned', 'Bootstrapped', 'NodeReady', 'HostUpToDate'])
      assert.equal((await harness.condition(type))?.status, 'True', type);
    assert.deepEqual(await harness.events(), ['Adopted', 'Provisioned', 'Bootstrapping', 'Bootstrapped']);
  });
});
