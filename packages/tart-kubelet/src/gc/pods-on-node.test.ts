import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createClient,
  inProcessTransport,
  type KubeObject,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import type { Journal, VmRecord } from '../journal/journal.ts';
import { vmNameOf } from '../journal/vm-identity.ts';
import { listPodsOnNode } from './pods-on-node.ts';

const { signal } = new AbortController();
const digest = `sha256:${'a'.repeat(64)}`;
const record = (uid: string, more: Partial<VmRecord> = {}): VmRecord => ({
  version: 1,
  vm: `ns-a-${uid}`,
  pod: { uid, namespace: 'ns', name: 'a' },
  image: { reference: 'ghcr.io/team/runner:main', digest },
  createdAt: 0,
  run: 0,
  state: { kind: 'configured' },
  ...more,
});
const journalOf = (records: VmRecord[], ...problems: string[]): Pick<Journal, 'list'> => ({
  list: async () => ({ uids: records.map(({ pod }) => pod.uid), records, problems }),
});
const noJournal: Pick<Journal, 'list'> = { list: () => Promise.reject(new Error('no disk')) };

/** A cluster with two Macs, each with the permissions of its own Node. */
const withCluster = async (scenario: (harness: Awaited<ReturnType<typeof setUp>>) => Promise<void>): Promise<void> => {
  const harness = await setUp();
  try {
    await scenario(harness);
  } finally {
    harness.stop();
  }
};
const setUp = async () => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const as = (commonName: string, organization: string) =>
    createClient(inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [organization] } }), {
      clock,
    });
  const admin = as('admin', 'system:masters');
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } });
  const metadata = { namespace: 'ns', name: 'default' };
  await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  for (const name of ['mac-1', 'mac-2'])
    await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const add = (name: string, nodeName: string, image: string) =>
    admin.create<KubeObject>(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'ns', name },
      spec: { nodeName, containers: [{ name: 'vm', image }] },
    } as KubeObject);
  return { own: as('system:node:mac-1', 'system:nodes'), add, stop: () => kubernetes.stop() };
};

describe('the Pods on a Node', () => {
  test('are those bound to it, with the image digests of the journal (INC-48)', () =>
    withCluster(async ({ own, add }) => {
      const mine = await add('a', 'mac-1', 'ghcr.io/team/runner:main');
      const unknown = await add('b', 'mac-1', 'ghcr.io/team/other:1');
      await add('c', 'mac-2', 'ghcr.io/team/runner:main');
      const journal = journalOf([record(mine.metadata.uid, { vm: 'named-otherwise' })]);
      const found = await listPodsOnNode(own, 'mac-1', journal)(signal);
      assert.deepEqual(
        [...found].sort((one, other) => (`${one.images[0]}` < `${other.images[0]}` ? -1 : 1)),
        [
          {
            uid: unknown.metadata.uid,
            vm: vmNameOf({ uid: unknown.metadata.uid, namespace: 'ns', name: 'b' }),
            images: ['ghcr.io/team/other:1'],
          },
          {
            uid: mine.metadata.uid,
            vm: 'named-otherwise',
            images: ['ghcr.io/team/runner:main', `ghcr.io/team/runner@${digest}`],
          },
        ],
      );
    }));

  test('reject when the journal or the API server cannot be read', () =>
    withCluster(async ({ own }) => {
      await assert.rejects(listPodsOnNode(own, 'mac-1', noJournal)(signal), /no disk/);
      await assert.rejects(listPodsOnNode(own, 'mac-2', journalOf([]))(signal));
    }));

  test('a Pod with an invalid UID has no VM, and needs its image', async () => {
    const pod = { metadata: { uid: '../x', name: 'a', namespace: 'ns' }, spec: { containers: [{ image: 'r/a:1' }] } };
    const list = async () => ({ items: [pod], resourceVersion: '1' });
    const found = await listPodsOnNode({ list: list as never }, 'mac-1', journalOf([]))(signal);
    assert.deepEqual(found, [{ uid: '../x', vm: undefined, images: ['r/a:1'] }]);
  });
});
