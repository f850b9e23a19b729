import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { definitions } from '@tartan/api/crds';
import { type Client, configMaps, createClient, inProcessTransport, isKubeError, namespaces } from '@tartan/kube';
import { manualClock, systemClock as clock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { createInstaller, untilServed } from './installer.ts';

const namespace = 'default';
const map = (name: string, finalizers: string[] = []) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: { namespace, name, finalizers },
});

describe('the installer', () => {
  let kubernetes: Kubernetes;
  let admin: Client;
  const clientOf = (commonName: string): Client =>
    createClient(inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [] } }), { clock });
  before(async () => {
    kubernetes = await createKubernetes({
      controllers: false,
      authorize: ({ user }) => ({ allowed: user.name === 'admin', reason: '' }),
    });
    admin = clientOf('admin');
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  after(() => kubernetes.stop());

  test('removes what it created and keeps existing objects', async () => {
    await admin.create(configMaps, map('theirs'));
    const installer = createInstaller(admin);
    for (const name of ['theirs', 'ours']) await installer.ensure(configMaps, map(name));
    const names = async () => (await admin.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['ours', 'theirs']);
    await installer.remove();
    assert.deepEqual(await names(), ['theirs']);
  });

  test('waits for each deletion', async () => {
    const installer = createInstaller(admin);
    await installer.ensure(configMaps, map('held', ['example.com/held']));
    let isOver = false;
    const removing = installer.remove().then(() => {
      isOver = true;
    });
    const which = { namespace, name: 'held' };
    while ((await admin.get(configMaps, which)).metadata.deletionTimestamp === undefined);
    assert.equal(isOver, false);
    await admin.patch(configMaps, which, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await removing;
    await assert.rejects(admin.get(configMaps, which), (error) => isKubeError(error, 'notFound'));
  });

  test('passes errors of the server through', async () => {
    const installer = createInstaller(clientOf('person'));
    await assert.rejects(installer.ensure(configMaps, map('ours')), (error) => isKubeError(error, 'forbidden'));
  });
});

test('a kind that the API server does not serve ends in an error', async () => {
  const manual = manualClock();
  // Time passes as soon as a sleep begins.
  const clock = {
    ...manual,
    after: (milliseconds: number, run: () => void) => {
      queueMicrotask(() => manual.advance(milliseconds));
      return manual.after(milliseconds, run);
    },
  };
  const [definition] = definitions;
  assert.ok(definition);
  const client = { get: async () => definition } as unknown as Client;
  await assert.rejects(
    untilServed(client, [definition], clock),
    new RegExp(
      `does not serve ${definition.metadata?.name} six minutes after its definition was created\\. See its conditions`,
    ),
  );
});
