import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  configMaps,
  createClient,
  inProcessTransport,
  isKubeError,
  KubeError,
  type KubeErrorReason,
  type ListOptions,
  namespaces,
} from '@tartan/kube';
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

describe('untilServed', () => {
  const [definition] = definitions;
  assert.ok(definition);
  const { name } = definition.metadata ?? {};
  const manual = manualClock();
  // Time passes as soon as a sleep begins.
  const clock = {
    ...manual,
    after: (milliseconds: number, run: () => void) => {
      queueMicrotask(() => manual.advance(milliseconds));
      return manual.after(milliseconds, run);
    },
  };
  const established = { ...definition, status: { conditions: [{ type: 'Established', status: 'True' }] } };
  /** An API server that answers lists with these errors, and then with an empty list. */
  const server = (read: object, errors: readonly KubeErrorReason[] = []) => {
    const answers = [...errors];
    const lists: ListOptions[] = [];
    const list = async (_: unknown, options: ListOptions) => {
      lists.push(options);
      const reason = answers.shift();
      if (reason !== undefined) throw new KubeError(reason, 'storage is (re)initializing');
      return { items: [], resourceVersion: '1' };
    };
    return { client: { get: async () => read, list } as unknown as Client, lists };
  };

  test('waits until the storage of an established kind answers a list without a limit', async () => {
    const { client, lists } = server(established, ['notFound', 'tooManyRequests']);
    await untilServed(client, [definition], clock);
    assert.deepEqual(lists, [{ pageSize: 0 }, { pageSize: 0 }, { pageSize: 0 }]);
  });

  test('passes other errors of the server through', async () => {
    const { client } = server(established, ['forbidden']);
    await assert.rejects(untilServed(client, [definition], clock), (error) => isKubeError(error, 'forbidden'));
  });

  test('ends in an error if the API server does not serve a kind', async () => {
    const message = `does not serve ${name} six minutes after its definition was created\\. See its conditions`;
    await assert.rejects(untilServed(server(definition).client, [definition], clock), new RegExp(message));
  });
});
