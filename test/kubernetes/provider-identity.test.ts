import { randomUUID } from 'node:crypto';
import { testCluster } from '@tartan/tools-kubernetes';
import {
  clusterRoleBindings,
  clusterRoles,
  createClient,
  createSubresources,
  httpsTransport,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { identityRights, joinBinding } from '../../packages/provider/src/identity/rights.ts';
import type { JoinableCluster } from '../../packages/provider/src/identity/testing/cluster.ts';
import { runJoinSuite } from '../../packages/provider/src/identity/testing/join-suite.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** A provider that has exactly the rights of `rights.ts`, as a ServiceAccount; and the rights of those who join. */
const start = async (): Promise<JoinableCluster> => {
  const real = await testCluster();
  const { url, caCertificate: ca, clientCertificate: cert = '', clientKey: key = '' } = real;
  const as: JoinableCluster['as'] = (who) =>
    httpsTransport({
      server: url,
      ca,
      clock: systemClock,
      credentials: () =>
        'token' in who ? { headers: { authorization: `Bearer ${who.token}` } } : { certificate: who },
    });
  const admin = as({ cert, key });
  const client = createClient(admin, { clock: systemClock });
  const name = `identity-${randomUUID().slice(0, 8)}`;
  const undo: (() => Promise<unknown>)[] = [];
  const subjects = [{ kind: 'ServiceAccount', name, namespace: name }];
  const copied = (rules: (typeof identityRights)['clusterWide']) => structuredClone(rules) as never;

  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  undo.push(() => client.delete(namespaces, { name }));
  await client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: name },
  });
  const rules = copied(identityRights.clusterWide);
  await client.create(clusterRoles, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules });
  undo.push(() => client.delete(clusterRoles, { name }));
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  await client.create(clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef,
    subjects,
  });
  undo.push(() => client.delete(clusterRoleBindings, { name }));
  await client.create(clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${name}-join` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: joinBinding.clusterRole },
    subjects: [{ apiGroup, kind: 'Group', name: joinBinding.group }],
  });
  undo.push(() => client.delete(clusterRoleBindings, { name: `${name}-join` }));
  for (const [namespace, rights] of Object.entries(identityRights.inNamespace)) {
    const metadata = { namespace, name };
    await client.create(roles, { apiVersion, kind: 'Role', metadata, rules: copied(rights) });
    undo.push(() => client.delete(roles, metadata));
    await client.create(roleBindings, {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'Role', name },
      subjects,
    });
    undo.push(() => client.delete(roleBindings, metadata));
  }
  const account = { namespace: name, name };
  const { token } = await createSubresources(admin, { clock: systemClock }).createToken(account, {});
  const provider = as({ token });
  return {
    url,
    ca,
    admin,
    provider,
    as,
    close: async () => {
      for (const each of undo.toReversed()) await each();
      admin.close();
      provider.close();
      await real.stop();
    },
  };
};

runJoinSuite('a Mac joins a real Kubernetes with no more rights than it needs', start);
