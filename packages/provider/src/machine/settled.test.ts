import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { secretNames } from '@tartan/api';
import { nodes, secrets } from '@tartan/kube';
import { createHarness, type Harness } from './testing/harness.ts';

/** Counts the requests of the controller, except those of watches. */
const countRequests = (harness: Harness): { sent(): string[] } => {
  const sent: string[] = [];
  harness.interpose((send) => (request) => {
    if (!request.path.includes('watch=')) sent.push(`${request.method} ${request.path}`);
    return send(request);
  });
  return { sent: () => [...sent] };
};

/** Its Node is Ready, and its token is used up. */
const settledMachine = async (harness: Harness): Promise<void> => {
  await harness.living();
  await harness.renewLease();
  const [token] = await harness.tokens();
  await harness.issueCertificate(token?.replace('bootstrap-token-', '') ?? '');
  await harness.pass(10);
};

describe('a machine that needs nothing', () => {
  test('is reconciled without a request when it is settled', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await settledMachine(harness);
    assert.equal(await harness.reason('Ready'), 'Ready');
    const { sent } = countRequests(harness);
    await harness.pass(30);
    assert.deepEqual(sent(), []);
    await harness.restart();
    await harness.pass(10);
    assert.deepEqual(
      sent().filter((request) => request.includes('/mac-1') || request.includes('/server-1')),
      [],
      'nor by a new process, once its caches are filled',
    );
  });

  test('is reconciled without a request while no Mac is free', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addMachine();
    await harness.pass(2);
    assert.equal(await harness.reason('Provisioned'), 'NoAvailableHost');
    const { sent } = countRequests(harness);
    await harness.pass(10);
    assert.deepEqual(sent(), []);
    await harness.addHost();
    await harness.rename();
    assert.equal((await harness.status()).serverID, 'server-1', 'a free Mac triggers');
  });

  test('is read live once its Secret is gone, which triggers', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    const name = { namespace: 'tuist', name: secretNames.machine('mac-1') };
    await harness.client.delete(secrets, name);
    await harness.settle();
    assert.ok(await harness.secret(), 'fetched again');
  });

  test('is read live while the cache is older than what the last pass wrote', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await settledMachine(harness);
    const { client } = harness;
    const setAddress = async (address: string): Promise<unknown> => {
      const body = { status: { addresses: [{ type: 'InternalIP', address }] } };
      await client.patch(nodes, { name: 'mac-1' }, { type: 'merge', body }, { subresource: 'status' });
      await harness.settle();
      return (await harness.status()).addresses?.at(-1)?.address;
    };
    assert.equal(await setAddress('100.64.0.1'), '100.64.0.1');
    await harness.freezeMachineCache();
    assert.equal(await setAddress('100.64.0.2'), '100.64.0.2');
    assert.equal(await setAddress('100.64.0.1'), '100.64.0.1', 'though the cached machine had that address all along');
  });
});
