import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  clusterRoleBindings,
  createClient,
  inProcessTransport,
  namespaces,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { deniedCalls, recordCalls, singleRights, unusedRights } from '../manager/testing/rbac-calls.ts';
import { deleteLegacyIdentity, legacyIdentityRights } from './legacy-identity.ts';

const namespace = 'macs';
const place = { namespace, machine: 'mac-1' };
const claimant = { uid: 'uid-1', serverID: undefined, createdAt: 0, hasNamesake: false };
const name = 'tart-kubelet-mac-1';

const startCluster = async (t: TestContext) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  const admin = createClient(transport, { clock });
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await admin.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: `${name}-token` } });
  await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  await admin.create(clusterRoleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' },
  });
  const recorded = recordCalls(transport);
  return {
    client: createClient(recorded.transport, { clock }),
    calls: recorded.calls,
    reads: [
      () => admin.get(serviceAccounts, { namespace, name }),
      () => admin.get(clusterRoleBindings, { name }),
      () => admin.get(secrets, { namespace, name: `${name}-token` }),
    ],
  };
};

describe('deleteLegacyIdentity', () => {
  test('deletes token, ServiceAccount and ClusterRoleBinding with exactly its rights, and twice does no harm', async (t) => {
    const { client, calls, reads } = await startCluster(t);
    assert.equal(await deleteLegacyIdentity(client, place, claimant), 'gone');
    for (const read of reads) await assert.rejects(read(), { reason: 'notFound' });
    assert.equal(await deleteLegacyIdentity(client, place, claimant), 'gone');
    const rights = singleRights(legacyIdentityRights(namespace));
    assert.deepEqual(deniedCalls(calls(), rights), []);
    assert.deepEqual(unusedRights(calls(), rights), []);
  });

  test('keeps all of it when the token is older than the machine or the machine has a namesake', async (t) => {
    const { client, reads } = await startCluster(t);
    for (const other of [
      { ...claimant, createdAt: Infinity },
      { ...claimant, hasNamesake: true },
    ])
      assert.equal(await deleteLegacyIdentity(client, place, other), 'foreign');
    for (const read of reads) await read();
  });
});
